package httpapi

import (
	"io"
	"net/http"
	"time"
)

// patience is how long a client may take nothing of what it is sent.
const patience = 30 * time.Second

// sip is how much is sent before the client has that long again.
const sip = 256 << 10

// unbounded lets an answer take longer than the server's time-outs.
func unbounded(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // a writer without deadlines needs none lifted
	_ = control.SetReadDeadline(time.Time{})
}

// patient gives its client patience for each write.
func patient(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)) // a writer without deadlines has a client that takes all
}

// pour sends all there is to read, however long that takes, to a client that
// goes on taking it.
func pour(w http.ResponseWriter, from io.Reader) (sent int64, err error) {
	for {
		patient(w)
		n, err := io.CopyN(w, from, sip)
		sent += n
		if err == io.EOF {
			return sent, nil
		}
		if err != nil {
			return sent, err
		}
	}
}

// hangUp ends an answer so that its client sees that it has not all of it.
func hangUp() { panic(http.ErrAbortHandler) }
