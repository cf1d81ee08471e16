package main

import (
	"io"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// Control characters that edit a line.
const (
	endOfInput = 0x04 // Ctrl-D
	backspace  = 0x08
	eraseLine  = 0x15 // Ctrl-U
	eraseLast  = 0x7f
)

// hiddenMax is the largest line, one byte more than any value may have.
const hiddenMax = rota.SecretMax + 1

// readHiddenLine reads a line from a terminal that passes on each character, and applies the keys that edit it. Ctrl-D ends
// the line, too. The rest of a line that is too long is read and dropped, so that no shell gets it.
func readHiddenLine(terminal io.Reader) (line []byte, err error) {
	var one [1]byte
	for {
		n, err := terminal.Read(one[:])
		if n == 0 {
			if err == nil || err == io.EOF {
				return line, nil
			}
			return nil, err
		}
		switch one[0] {
		case '\n', '\r', endOfInput:
			return line, nil
		case backspace, eraseLast:
			_, size := utf8.DecodeLastRune(line)
			line = line[:len(line)-size]
		case eraseLine:
			line = line[:0]
		default:
			if len(line) < hiddenMax {
				line = append(line, one[0])
			}
		}
	}
}
