package action

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// output passes the output of a program on, up to a limit. It reads what comes after that, so that the program does not stand still.
type output struct {
	result tail // descriptor 3
	last   tail // standard output

	masks [2]io.WriteCloser // of standard output and standard error

	mu   sync.Mutex
	to   io.Writer
	max  int64
	left int64
	over bool // the log says that output is missing
}

// newOutput masks the secrets of a program before the limit may cut one, and in each stream before the other may write in between.
func newOutput(to io.Writer, limit int64, masked func(io.Writer) io.WriteCloser) *output {
	o := &output{to: to, max: limit, left: limit}
	for i := range o.masks {
		o.masks[i] = masked(writer(o.write))
	}
	return o
}

func (o *output) stdout() io.Writer {
	return writer(func(text []byte) { o.last.add(text); o.masked(0, text) })
}

func (o *output) stderr() io.Writer { return writer(func(text []byte) { o.masked(1, text) }) }

// masked passes output on unless the limit is reached, because masking costs more than reading.
func (o *output) masked(stream int, text []byte) {
	o.mu.Lock()
	over := o.over
	o.mu.Unlock()
	if !over {
		_, _ = o.masks[stream].Write(text) // write accepts everything
	}
}

// flush passes on what the masks have held back, when the program has ended.
func (o *output) flush() {
	for _, w := range o.masks {
		_ = w.Close() // write accepts everything
	}
}

// writer is a function as an io.Writer that accepts everything.
type writer func([]byte)

func (w writer) Write(text []byte) (int, error) {
	w(text)
	return len(text), nil
}

func (o *output) write(text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return
	}
	part := text[:min(int64(len(text)), o.left)]
	o.left -= int64(len(part))
	_, _ = o.to.Write(part) // the log of a run accepts everything
	if len(part) < len(text) {
		o.over = true
		_, _ = fmt.Fprintf(o.to, "\nrota: the output is longer than %d bytes; the rest is not kept\n", o.max)
	}
}

// report sets the result of the run: what the program wrote to descriptor 3, else the last line of its standard output if that is an
// object or array of JSON.
func (o *output) report(ctx context.Context) {
	if o.result.used {
		text := bytes.TrimSpace(o.result.text)
		err := o.checkResult(text)
		if err == nil {
			err = engine.Result(ctx, json.RawMessage(text))
		}
		if err != nil {
			engine.Log(ctx).Warn("exec: the result on descriptor 3 is not stored", "error", err.Error())
		}
		return
	}
	line := bytes.TrimSpace(o.last.text)
	if at := bytes.LastIndexByte(line, '\n'); at >= 0 {
		line = bytes.TrimSpace(line[at+1:])
	} else if o.last.cut {
		return
	}
	if len(line) > 0 && (line[0] == '{' || line[0] == '[') && json.Valid(line) {
		_ = engine.Result(ctx, json.RawMessage(line)) // a line that no result can be is output like any other
	}
}

// checkResult says why a text on descriptor 3 can be no result.
func (o *output) checkResult(text []byte) error {
	if !o.result.cut {
		var fault *json.SyntaxError
		if err := json.Unmarshal(text, &json.RawMessage{}); errors.As(err, &fault) {
			return fmt.Errorf("it is not JSON: byte %d: %w", fault.Offset, err)
		}
		if stored, err := json.Marshal(json.RawMessage(text)); err != nil || len(stored) <= rota.ResultMax {
			return err
		}
	}
	return fmt.Errorf("it is longer than %d bytes as JSON; write a file, and its name as the result", rota.ResultMax)
}

// tail keeps the end of what is written to it.
type tail struct {
	text []byte
	used bool
	cut  bool // the beginning is missing
}

// tailMax is more than a result and the line break after it.
const tailMax = rota.ResultMax + 16

func (t *tail) Write(text []byte) (int, error) {
	t.add(text)
	return len(text), nil
}

func (t *tail) add(text []byte) {
	t.used = t.used || len(text) > 0
	if len(text) >= tailMax {
		t.cut = t.cut || len(t.text) > 0 || len(text) > tailMax
		t.text = append(t.text[:0], text[len(text)-tailMax:]...)
		return
	}
	t.text = append(t.text, text...)
	if over := len(t.text) - tailMax; over > tailMax {
		t.cut = true
		t.text = append(t.text[:0], t.text[over:]...)
	}
}
