package runlog

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/rotajobs/rota"
)

// A remote worker sends its log in parts, each with its position, and sends a part again if it got no answer. Each part
// has a fixed place in the stored log, so nothing needs to be remembered between two of them: not which parts arrived, nor
// whether the log is full. A restart of the server, or another server, changes nothing.

// appendLocks serialize the parts of one log.
type appendLocks [64]sync.Mutex

func (l *appendLocks) of(job rota.ID) *sync.Mutex { return &l[int(job[len(job)-1])%len(l)] }

// cut returns what is stored of a part of a log that begins at an offset, and whether the log is full then. Of the part
// that does not fit it keeps the lines that do, and the notice that the log is full.
func (c *Config) cut(offset int64, part string) (kept []byte, full bool) {
	fits := c.Max - offset
	switch {
	case int64(len(part)) <= fits:
		return []byte(part), false
	case fits < 0:
		return nil, true // an earlier part has the notice
	}
	kept = []byte(part[:fits])
	if end := bytes.LastIndexByte(kept, '\n'); end >= 0 {
		kept = kept[:end+1]
	}
	midLine := len(kept) == 0 && offset > 0 || len(kept) > 0 && kept[len(kept)-1] != '\n' // the part before may end within a line
	return append(kept, noticeFull(midLine, c.Max)...), true
}

// unstored is the rest of a part of which a log that ends somewhere has the beginning.
func unstored(offset int64, part []byte, end int64) (int64, []byte) {
	has := min(max(0, end-offset), int64(len(part)))
	return offset + has, part[has:]
}

// Append stores a part of the log of a run that a remote worker has sent. Bytes that are stored already stay as they are. It
// reports whether the log is full.
func (l *Files) Append(_ context.Context, job *rota.Job, offset int64, part string) (full bool, err error) {
	kept, full := l.config.cut(offset, part)
	lock := l.appends.of(job.ID)
	lock.Lock()
	defer lock.Unlock()
	if len(kept) == 0 {
		return full, nil
	}
	name := l.file(job)
	err = writePart(name, offset, kept)
	l.reportWrite(name, err)
	return full, err
}

// writePart writes a part to its place in a file. If the file lacks what is before it, a notice fills the place of that.
func writePart(name string, offset int64, part []byte) error {
	file, err := openFile(name, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	offset, part = unstored(offset, part, info.Size())
	if gap := offset - info.Size(); gap > 0 {
		offset, part = info.Size(), slices.Concat(filler(gap), part)
	}
	_, err = file.WriteAt(part, offset)
	return err
}

// filler is a notice as long as the text in whose place it stands.
func filler(bytes int64) []byte {
	text := string(notice(true, "%d bytes are missing here: they were lost, or another server has them", bytes))
	if more := bytes - int64(len(text)); more >= 0 {
		return []byte(strings.TrimSuffix(text, "\n") + strings.Repeat(" ", int(more)) + "\n")
	}
	return []byte(strings.Repeat(".", int(bytes)))
}

// Append stores a part of the log of a run that a remote worker has sent. Bytes that are stored already stay as they are. It
// reports whether the log is full.
func (c *Chunks) Append(ctx context.Context, job *rota.Job, offset int64, part string) (full bool, err error) {
	kept, full := c.config.cut(offset, part)
	lock := c.appends.of(job.ID)
	lock.Lock()
	defer lock.Unlock()
	if len(kept) == 0 {
		return full, nil
	}
	last, err := c.store.ReadLog(ctx, job.ID, -1, 1)
	if err != nil {
		return false, err
	}
	if len(last) > 0 {
		offset, kept = unstored(offset, kept, last[0].Offset+int64(last[0].Length))
	}
	var chunks []rota.LogChunk
	for rest := kept; len(rest) > 0; {
		text := rest[:min(len(rest), chunkMax)]
		chunks = append(chunks, newChunk(job, offset, text))
		offset, rest = offset+int64(len(text)), rest[len(text):]
	}
	if len(chunks) == 0 {
		return full, nil
	}
	if err := c.store.AppendLog(ctx, chunks, false); err != nil {
		return false, err
	}
	c.notifyReaders(job.ID)
	return full, nil
}
