package rota

import (
	"context"
	"time"
)

// LogStore is implemented by a store that several processes share. It keeps what runs write, so that
// each process can read the log of every run. Package runlog writes and reads the chunks.
type LogStore interface {
	// AppendLog stores chunks, all or none. A chunk that is stored already stays as it is, so that a
	// caller that did not receive the answer can send its chunks again. Durable chunks survive a crash of
	// the database server. Others do so only if a batch that was applied after them does.
	AppendLog(ctx context.Context, chunks []LogChunk, durable bool) error
	// ReadLog returns chunks of the log of a job in order, beginning with the one that contains the
	// offset, until they have about as many bytes of text as given. It returns at least one chunk if there
	// is text at the offset or after it. With a negative offset it returns the last chunk.
	ReadLog(ctx context.Context, job ID, offset int64, bytes int) ([]LogChunk, error)
	// PruneLogs removes at most limit chunks of runs that started before a time, and returns how many
	// it removed.
	PruneLogs(ctx context.Context, before time.Time, limit int) (int, error)
}

// LogChunk is a part of the log of a job. A job has at most one run and so one log.
type LogChunk struct {
	JobID     ID
	StartedAt time.Time // start of the run; ReadLog does not return it
	Offset    int64     // position of its first byte in the log
	Length    int       // bytes of its text
	Deflated  bool      // Data is compressed with DEFLATE (RFC 1951)
	Data      []byte
	Replaces  bool // remove the stored log of the job first
}
