package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/rotajobs/rota"
)

// diskReserve is how much room a backup leaves on its disk, which is likely to be
// the store's own.
const diskReserve = 128 << 20

func (a *api) backupRoutes() {
	get(a, operation{
		method: "GET", path: "/backup", id: "backup", tag: "Server", summary: "Download a consistent copy of the store",
		description: "Made while the server goes on. One at a time, and only if there is room for it on the server's disk.",
		mediaType:   "application/vnd.sqlite3", errors: []int{409}, class: classBackup,
	}, sendBackup)
}

// sendBackup makes a copy beside the store, then sends it: what is sent has its
// length, so that the client sees whether it has all of it.
func sendBackup(c *call) (reply, error) {
	if c.Backup == nil {
		return reply{}, &rota.Error{
			Code: rota.Unavailable, Reason: "this store has no backup of its own", Hint: "use the tools of its database",
		}
	}
	clearDeadlines(c.w)
	dir, err := os.MkdirTemp(c.ScratchDir, "rota-backup-")
	if err != nil {
		return reply{}, rota.Errorf(rota.Unavailable, "backup", "there is no room for the copy: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rota.db")
	if err := c.copyStore(path); err != nil {
		return reply{}, err
	}
	file, err := os.Open(path)
	if err != nil {
		return reply{}, rota.Errorf(rota.Internal, "backup", "the copy is gone: %w", err)
	}
	defer file.Close()
	_ = os.RemoveAll(dir) // what is open can be read to its end, and is gone then whatever happens; where it cannot, it is removed later
	return reply{written: true}, c.sendFile(file)
}

// copyStore copies the store, unless that would fill the disk. How much there is
// to copy is known when the first part of it is.
func (c *call) copyStore(path string) error {
	ctx, stop := context.WithCancelCause(c.ctx)
	defer stop(nil)
	err := c.Backup(ctx, path, func(done, total int64) {
		if free, known := c.freeDisk(c.ScratchDir); known && done < total && free < uint64(total-done)+diskReserve {
			stop(diskFull(total, done, free))
		}
	})
	if full := (*rota.Error)(nil); err != nil && errors.As(context.Cause(ctx), &full) {
		return full
	}
	return err
}

func diskFull(total, done int64, free uint64) *rota.Error {
	return &rota.Error{
		Code: rota.Unavailable, Act: "backup",
		Reason: fmt.Sprintf("the copy takes %s more, and %s are free, of which %s are kept", sizeText(total-done), sizeText(int64(free)), sizeText(diskReserve)),
		Hint:   "free some space on the disk of the server",
	}
}

func (c *call) sendFile(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return rota.Errorf(rota.Internal, "backup", "the copy cannot be read: %w", err)
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/vnd.sqlite3")
	h.Set("Content-Length", fmt.Sprint(info.Size()))
	h.Set("Content-Disposition", `attachment; filename="rota-`+c.Clock().UTC().Format("20060102-150405")+`.db"`)
	c.w.WriteHeader(http.StatusOK)
	if _, err := copyBody(c.w, file); err != nil {
		abortResponse() // the client has gone, or must see that it has not all of it
	}
	return nil
}
