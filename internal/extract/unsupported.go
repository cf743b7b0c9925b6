package extract

import "strings"

// unsupportedTypes are extensions that are known not to be read, with the
// reason for a person.
var unsupportedTypes = []struct{ reason, extensions string }{
	{"images need OCR by tesseract, which is not allowed by the configuration", "png jpg jpeg gif bmp tif tiff webp"},
	{"images of this kind are not read", "heic heif avif ico jp2 pbm pgm ppm pnm"},
	{"drawings and design files hold hardly any text", "svg svgz ai eps ps psd xcf sketch fig drawio vsd vsdx dwg dxf indd afdesign cdr"},
	{"raw photos and 3D models hold no text", "cr2 cr3 nef arw dng raf stl obj fbx blend glb gltf 3ds dae usdz step stp"},
	{"sound is not transcribed", "mp3 wav flac ogg oga opus m4a aac wma aiff aif mid midi amr"},
	{"films are not transcribed", "mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp m2ts vob"},
	{"archives are not opened", "zip tar gz tgz bz2 tbz xz txz zst 7z rar lz4 lzma cab iso dmg img vhd vhdx vmdk qcow2 deb rpm apk ipa jar war ear whl egg gem nupkg crate cpio"},
	{"programs and libraries hold no text", "exe dll so dylib a o obj lib ko elf com msi app bin class pyc pyo pyd wasm beam node rlib pdb"},
	{"databases are not opened", "db sqlite sqlite3 mdb accdb dbf frm ibd rdb ldb parquet feather arrow avro orc h5 hdf5 npy npz pkl pickle mat rds rdata sav dta duckdb"},
	{"models and weights hold no text", "onnx gguf safetensors pt pth ckpt tflite pb caffemodel mlmodel"},
	{"fonts hold no text", "ttf otf woff woff2 eot ttc pfb pfm"},
	{"keys and certificates are left alone", "pem key crt cer der p12 pfx jks keystore asc.gpg gpg pgp kdbx ppk"},
	{"temporary and backup files are left alone", "tmp temp bak swp swo swn part crdownload download old orig rej lock pid cache"},
	{"old Office documents need a helper (antiword, catdoc, xls2csv, catppt) that is installed and allowed", "doc dot xls xlt ppt pps pot"},
	{"e-books of this kind are not read", "mobi azw azw3 kf8 fb2 djvu lit chm"},
	{"mail stores of this kind are not read; export them as EML or MBOX", "pst ost"},
	{"binary workbooks are not read; save them as XLSX", "xlsb"},
	{"documents of this program are not read", "pages numbers one onetoc2 pub wpd wps xps oxps hwp hwpx"},
	{"links to other places are not followed", "lnk url webloc"},
	{"source maps are made from other files", "map"},
}

// unsupported says why an extension is not read; empty for an unknown one.
func unsupported(ext string) string {
	for _, u := range unsupportedTypes {
		for e := range strings.FieldsSeq(u.extensions) {
			if e == ext {
				return u.reason + ": ." + ext
			}
		}
	}
	return ""
}
