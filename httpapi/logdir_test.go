package httpapi_test

import (
	"context"
	"io"
	"os"

	"github.com/rotajobs/rota"
)

// logReader reads the files of logDir.
type logReader struct{ *logDir }

func (d logReader) ReadLog(_ context.Context, job *rota.Job) (io.ReadSeekCloser, error) {
	return os.OpenFile(d.file(job), os.O_RDONLY|os.O_CREATE, 0o600)
}
