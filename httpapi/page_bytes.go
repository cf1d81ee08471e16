package httpapi

import (
	"github.com/rotajobs/rota"
)

const (
	pageBytesMax = 16 << 20 // limit on the large fields of one page; the page ends there
	readRows     = 64       // possibly large rows read at a time
)

// jobSize is the size of the large fields of a job. The params of a started job are shown twice.
func jobSize(j *rota.Job) int {
	size := len(j.Params)
	if r := j.Run; r != nil {
		size += len(j.Params) + len(r.Result) + len(r.Progress) + len(r.Error)
	}
	return size
}
