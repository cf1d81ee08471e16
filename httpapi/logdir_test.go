package httpapi_test

import (
	"io"
	"os"

	"github.com/rotajobs/rota"
)

// logReader reads the files of logDir.
type logReader struct{ *logDir }

func (d logReader) Open(job *rota.Job) (io.ReadSeekCloser, error) {
	f, err := os.Open(d.file(job))
	if os.IsNotExist(err) {
		return nil, &rota.Error{Code: rota.NotFound, Reason: "there is no log"}
	}
	return f, err
}
