package mask

import (
	"bytes"
	"io"
)

// Writer masks values in a stream. It holds back the end of what was written as long as it may be the beginning of a
// value. Close writes the rest; it does not close the underlying writer.
type Writer struct {
	to      io.Writer
	set     *Set
	held    []byte
	covered int // bytes of held that belong to a value for which Text was written
}

// NewWriter returns a writer in front of another one. One goroutine may use it at a time.
func NewWriter(to io.Writer, set *Set) *Writer { return &Writer{to: to, set: set} }

// Write accepts the whole text unless the underlying writer fails.
func (w *Writer) Write(text []byte) (int, error) {
	if len(w.held) == 0 && w.set.Empty() {
		return w.to.Write(text)
	}
	joined := text
	if len(w.held) > 0 {
		joined = append(w.held, text...)
	}
	if err := w.write(joined, false); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Continue returns a writer in the same state in front of another one.
func (w *Writer) Continue(to io.Writer, set *Set) *Writer {
	return &Writer{to: to, set: set, held: bytes.Clone(w.held), covered: w.covered}
}

// Held returns the length of what is held back.
func (w *Writer) Held() int { return len(w.held) }

// Close writes what was held back.
func (w *Writer) Close() error {
	if len(w.held) == 0 {
		return nil
	}
	return w.write(w.held, true)
}

func (w *Writer) write(text []byte, last bool) error {
	out, rest, covered := w.set.mask(text, w.covered, last)
	w.held, w.covered = bytes.Clone(rest), covered
	if len(out) == 0 {
		return nil
	}
	_, err := w.to.Write(out)
	return err
}
