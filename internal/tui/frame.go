package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"

	"ragd/internal/wire"
)

var (
	titles = [pageCount]string{"Overview", "Queue", "Failed", "Search", "Documents", "Agents"}
	short  = [pageCount]string{"Over", "Queue", "Fail", "Find", "Docs", "Log"}
)

// View draws the header, the page and the footer.
func (m *Model) View() string {
	if m.quitting || m.w <= 0 || m.h <= 0 {
		return ""
	}
	if m.w < minWidth || m.h < minHeight {
		msg := fmt.Sprintf("%d×%d is too small; ragtui needs %d×%d", m.w, m.h, minWidth, minHeight)
		return m.finishFrame(block(wrapLine(msg, m.w), m.w, m.h))
	}
	h := m.h - 2
	body := m.body(m.w, h)
	if m.overlay != nil {
		body = layOver(body, m.overlay.View(m.w, h), m.w, h)
	}
	return m.finishFrame(m.header() + "\n" + body + "\n" + m.footer())
}

func (m *Model) body(w, h int) string {
	wd := m.sh.world
	if wd.wasLive || wd.status != nil {
		return m.pages[m.cur].View(w, h)
	}
	return m.noDaemon(w, h)
}

// noDaemon is shown until the first hello.
func (m *Model) noDaemon(w, h int) string {
	st, link := m.sh.st, m.sh.world.link
	lines := []string{"", ""}
	if link.State != wire.LinkDown {
		lines = append(lines, "  "+st.Dim.Render("Connecting to the daemon"+m.sh.g.Ellipsis))
		return block(lines, w, h)
	}
	title, steps := offlineAdvice(link)
	lines = append(lines, "  "+st.Strong.Render(clip(title, w-4)))
	for _, l := range wrapText(sentence(link.Reason), w-4) {
		lines = append(lines, "  "+st.Dim.Render(l))
	}
	lines = append(lines, "")
	for _, s := range steps {
		for i, l := range wrapText(s, w-6) {
			lead := "    "
			if i == 0 {
				lead = "  " + st.Accent.Render(m.sh.g.Cursor) + " "
			}
			lines = append(lines, lead+l)
		}
	}
	lines = append(lines, "")
	for _, l := range wrapText("It is tried again by itself; nothing needs to be pressed.", w-4) {
		lines = append(lines, "  "+st.Dim.Render(l))
	}
	return block(lines, w, h)
}

func offlineAdvice(link wire.Link) (title string, steps []string) {
	switch link.Code {
	case "daemon_not_running":
		return "The daemon is not running.", []string{"Start it in another terminal: ragd serve"}
	case "api_version":
		return "The daemon is of another version.", []string{"Restart the daemon with the same release as ragtui: ragd version, ragtui --version"}
	case "not_ragd":
		return "What listens on the socket is not ragd.", []string{"Set RAGD_ADMIN_SOCKET to the daemon's socket"}
	case "daemon_denied":
		return "The daemon belongs to another user.", []string{"Run ragtui as the user who started the daemon"}
	case "too_many_streams":
		return "Too many dashboards are open.", []string{"Close another ragtui"}
	}
	return "The daemon cannot be reached.", []string{"See whether it runs: ragd status"}
}

// sentence gives a message a capital letter and a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

type tab struct {
	page, x int
	text    string
	badge   int64
}

// tabs lays out the page names; short ones, then numbers only, where the width asks for it.
func (m *Model) tabs(w int) []tab {
	q := m.sh.world.queue()
	badges := [pageCount]int64{pageQueue: q.Pending + q.Processing, pageFailed: q.Failed}
	lay := func(name func(i int) string, gap int) ([]tab, int) {
		out, x := make([]tab, 0, pageCount), 1
		for i := range pageCount {
			t := tab{page: i, x: x, text: name(i)}
			if badges[i] > 0 {
				t.badge = badges[i]
				t.text += " " + shortCount(badges[i])
			}
			x += width(t.text) + gap
			out = append(out, t)
		}
		return out, x
	}
	numbered := func(names [pageCount]string) func(int) string {
		return func(i int) string { return fmt.Sprintf("%d %s", i+1, names[i]) }
	}
	word, _, _ := linkLine(m.sh.world)
	right := width(word) + 4
	if out, end := lay(numbered(titles), 2); end <= w-right {
		return out
	}
	if out, end := lay(numbered(short), 2); end <= w-right {
		return out
	}
	out, _ := lay(func(i int) string {
		if i == m.cur {
			return fmt.Sprintf("%d %s", i+1, short[i])
		}
		return fmt.Sprint(i + 1)
	}, 1)
	return out
}

// shortCount writes a count in at most four cells: 812, 1.2k, 12k, 3M.
func shortCount(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 9950:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.0fM", float64(n)/1e6)
}

func (m *Model) header() string {
	st := m.sh.st
	var b strings.Builder
	x := 0
	for _, t := range m.tabs(m.w) {
		b.WriteString(spaces(t.x - x))
		name, badge := t.text, ""
		if t.badge > 0 {
			i := strings.LastIndexByte(t.text, ' ')
			name, badge = t.text[:i], t.text[i:]
		}
		if t.page == m.cur {
			b.WriteString(st.TabOn.Render(name))
		} else {
			b.WriteString(st.Tab.Render(name))
		}
		switch {
		case badge == "":
		case t.page == pageFailed:
			b.WriteString(st.Fail.Render(badge))
		default:
			b.WriteString(st.Badge.Render(badge))
		}
		x = t.x + width(t.text)
	}
	word, _, bad := linkLine(m.sh.world)
	sign, style := m.sh.g.OK, st.OK
	switch {
	case bad:
		sign, style = m.sh.g.Fail, st.Fail
	case word != "live":
		sign, style = m.sh.g.Busy, st.Warn
	}
	right := style.Render(sign + " " + word)
	if room := m.w - x - 1; width(right)+1 > room {
		right = style.Render(sign)
	}
	left := cut(b.String(), m.w-width(right)-2)
	return left + spaces(m.w-width(left)-width(right)-1) + right
}

// footer shows what just happened, or how the link is, or the keys.
func (m *Model) footer() string {
	st := m.sh.st
	if m.toast != "" {
		text := clip(visible(m.toast), m.w-4)
		if m.toastBad {
			return " " + st.Fail.Render(m.sh.g.Fail+" "+text)
		}
		return " " + st.Info.Render(text)
	}
	if _, sentence, bad := linkLine(m.sh.world); bad && sentence != "" {
		return " " + st.Warn.Render(clip(sentence+" Trying again.", m.w-2))
	}
	if m.overlay != nil {
		return " " + m.hints(m.overlay.Keys(), m.w-2)
	}
	keys := m.pages[m.cur].Keys()
	if m.pages[m.cur].Typing() {
		return " " + m.hints(keys, m.w-2)
	}
	tail := []key.Binding{as(m.sh.keys.Help, "keys"), as(m.sh.keys.Palette, "commands"), m.sh.keys.Quit}
	end := m.hints(tail, m.w)
	if first := m.hints(keys, m.w-width(end)-4); first != "" {
		return " " + first + "  " + end
	}
	return " " + end
}

// hints writes as many keys as fit.
func (m *Model) hints(keys []key.Binding, w int) string {
	st := m.sh.st
	var parts []string
	used := 0
	for _, k := range keys {
		if !k.Enabled() {
			continue
		}
		name := k.Help().Key
		if m.sh.g.ASCII {
			name = asciiKey(name)
		}
		n := width(name) + 1 + width(k.Help().Desc)
		if len(parts) > 0 {
			n += 2
		}
		if used+n > w {
			break
		}
		used += n
		parts = append(parts, st.Key.Render(name)+" "+st.KeyText.Render(k.Help().Desc))
	}
	return strings.Join(parts, "  ")
}

func asciiKey(name string) string {
	return strings.NewReplacer("↑", "up", "↓", "down", "→", "right", "←", "left").Replace(name)
}
