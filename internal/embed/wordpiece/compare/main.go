// Command compare prints the ids of texts, for compare.py to hold against the
// reference. It reads one JSON string a line and writes one JSON array a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"ragd/internal/embed/wordpiece"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: compare vocab.txt < texts.jsonl")
	}
	vocab, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	tok, err := wordpiece.New(string(vocab), wordpiece.Uncased())
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	for in.More() {
		var text string
		if err := in.Decode(&text); err != nil {
			return err
		}
		line, err := json.Marshal(tok.Append([]int32{}, text))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
			return err
		}
	}
	return out.Flush()
}
