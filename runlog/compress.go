package runlog

import (
	"bytes"
	"compress/flate"
	"io"
	"sync"

	"github.com/rotajobs/rota"
)

// deflateMin is the size below which compression saves too little.
const deflateMin = 256 // bytes

// deflater compresses chunks, one after the other.
type deflater struct {
	writer *flate.Writer
	buffer bytes.Buffer
}

// deflaters keeps compressors for reuse: a new one allocates about a megabyte.
var deflaters = sync.Pool{New: func() any {
	writer, _ := flate.NewWriter(io.Discard, flate.BestSpeed) // fails only for an unknown level
	return &deflater{writer: writer}
}}

// newChunk returns the chunk of a text, compressed if that makes it smaller. The chunk may keep the text.
func newChunk(job *rota.Job, offset int64, text []byte) rota.LogChunk {
	chunk := rota.LogChunk{JobID: job.ID, StartedAt: startOf(job), Offset: offset, Length: len(text), Data: text}
	if len(text) < deflateMin {
		return chunk
	}
	d := deflaters.Get().(*deflater)
	defer deflaters.Put(d)
	d.buffer.Reset()
	d.writer.Reset(&d.buffer)
	_, _ = d.writer.Write(text) // a buffer accepts everything
	_ = d.writer.Close()
	if d.buffer.Len() < len(text) {
		chunk.Deflated, chunk.Data = true, bytes.Clone(d.buffer.Bytes())
	}
	return chunk
}

// appendText appends the text of a chunk.
func appendText(to []byte, c *rota.LogChunk) ([]byte, error) {
	if !c.Deflated {
		return append(to, c.Data...), nil
	}
	reader := flate.NewReader(bytes.NewReader(c.Data))
	at := len(to)
	to = append(to, make([]byte, c.Length)...)
	if _, err := io.ReadFull(reader, to[at:]); err != nil {
		return to[:at], &rota.Error{
			Code: rota.Internal, Act: "log of job " + c.JobID.String(), Reason: "a stored part cannot be decompressed", Err: err,
			Hint: "the row in log_chunks is damaged; restore a backup, or delete it",
		}
	}
	return to, nil
}
