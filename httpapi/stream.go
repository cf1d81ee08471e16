package httpapi

import (
	"io"
	"net/http"
	"time"
)

// writeTimeout is how long a client may accept no data.
const writeTimeout = 30 * time.Second

// writeChunk is the number of bytes per write deadline.
const writeChunk = 256 << 10

// clearDeadlines lets a response take longer than the timeouts of the server.
func clearDeadlines(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // some writers have no deadlines
	_ = control.SetReadDeadline(time.Time{})
}

// extendWriteDeadline sets the deadline of the next write.
func extendWriteDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // some writers have no deadlines
}

// copyBody sends everything from a reader, for any duration, while the client keeps accepting data.
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

// abortResponse aborts a response, so that the client sees that it is incomplete.
func abortResponse() { panic(http.ErrAbortHandler) }
