package main

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// jsonLines returns the line number of each value of a JSON text by its path. The text must be valid.
func jsonLines(text []byte) map[string]int {
	r := &jsonReader{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), line: 1, lines: map[string]int{}}
	r.decoder.UseNumber() // numbers outside the range of float64 are valid
	r.value("")
	return r.lines
}

type jsonReader struct {
	text    []byte
	decoder *json.Decoder
	offset  int // lines are counted up to here
	line    int
	lines   map[string]int
}

// pathMax is the longest path in bytes. A server never names a longer one, and paths of deep documents would fill
// memory.
const pathMax = 1000

func (r *jsonReader) value(path string) {
	if len(path) > pathMax {
		var all json.RawMessage
		_ = r.decoder.Decode(&all)
		return
	}
	begin, _ := r.decoder.Token()
	r.recordLine(path)
	switch begin {
	case json.Delim('{'):
		for r.decoder.More() {
			name, _ := r.decoder.Token()
			at, _ := name.(string)
			if path != "" {
				at = path + "." + at
			}
			r.recordLine(at)
			r.value(at)
		}
	case json.Delim('['):
		for i := 0; r.decoder.More(); i++ {
			r.value(path + "[" + strconv.Itoa(i) + "]")
		}
	default:
		return
	}
	_, _ = r.decoder.Token() // the closing bracket
}

// recordLine records the line of the token that was just read. The first value of a path wins.
func (r *jsonReader) recordLine(path string) {
	end := int(r.decoder.InputOffset())
	r.line += bytes.Count(r.text[r.offset:end], []byte("\n"))
	r.offset = end
	if _, known := r.lines[path]; !known {
		r.lines[path] = r.line
	}
}
