package main

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// jsonLines says on which line each part of a JSON text stands, by its path. The text is valid.
func jsonLines(text []byte) map[string]int {
	r := &jsonReader{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), line: 1, lines: map[string]int{}}
	r.decoder.UseNumber() // a number of any size is one
	r.value("")
	return r.lines
}

type jsonReader struct {
	text    []byte
	decoder *json.Decoder
	offset  int // up to here lines are counted
	line    int
	lines   map[string]int
}

// pathMax bounds how deep parts are told apart: nothing that a server refuses has so long a name.
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
	_, _ = r.decoder.Token() // what closes it
}

// recordLine remembers the line of what was just read, unless its name was there before.
func (r *jsonReader) recordLine(path string) {
	end := int(r.decoder.InputOffset())
	r.line += bytes.Count(r.text[r.offset:end], []byte("\n"))
	r.offset = end
	if _, known := r.lines[path]; !known {
		r.lines[path] = r.line
	}
}
