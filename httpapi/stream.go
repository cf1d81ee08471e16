package httpapi

import (
	"io"
	"net/http"
	"time"
)

// writeTimeout is how long a client may take nothing of what it is sent.
const writeTimeout = 30 * time.Second

// writeChunk is how much is sent before the client has that long again.
const writeChunk = 256 << 10

// clearDeadlines lets an answer take longer than the server's time-outs.
func clearDeadlines(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // a writer without deadlines needs none lifted
	_ = control.SetReadDeadline(time.Time{})
}

// extendWriteDeadline gives its client patience for each write.
func extendWriteDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // a writer without deadlines has a client that takes all
}

// copyBody sends all there is to read, however long that takes, to a client that
// goes on taking it.
func copyBody(w http.ResponseWriter, from io.Reader) (sent int64, err error) {
	for {
		extendWriteDeadline(w)
		n, err := io.CopyN(w, from, writeChunk)
		sent += n
		if err == io.EOF {
			return sent, nil
		}
		if err != nil {
			return sent, err
		}
	}
}

// abortResponse ends an answer so that its client sees that it has not all of it.
func abortResponse() { panic(http.ErrAbortHandler) }
