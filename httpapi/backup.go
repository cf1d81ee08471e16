package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api/problem"
)

// diskReserve is the disk space that a backup leaves free, since its disk is probably that of the
// store.
const diskReserve = 128 << 20

func (a *server) backupRoutes() {
	get(a, operation{
		method: "GET", path: "/backup", id: "backup", scope: writeScope, tag: "Server", summary: "Download a consistent copy of the store, with run logs and targets",
		description: "The server keeps running during the copy. The file is the store as an SQLite database, with run logs and the databases of SQLite targets in the data directory attached; rota restore writes all of them. Only one backup runs at a time, and only if the server has enough free disk space.",
		mediaType:   "application/vnd.sqlite3", errors: []int{409}, class: classBackup, need: rota.Admin,
	}, sendBackup)
}

// sendBackup creates a copy on disk, then sends it. The response has a length, so that the client can
// detect an incomplete copy.
func sendBackup(c *call) (reply, error) {
	if c.Backup == nil {
		return reply{}, problem.New(rota.Unavailable, "", "use the backups of the database, such as pg_dump; to move the store into a file, stop its servers and run rota copy --from postgres://… --to sqlite:FILE --history", "a store on PostgreSQL has no backups of its own")
	}
	clearDeadlines(c.w)
	dir, err := os.MkdirTemp(c.ScratchDir, "rota-backup-")
	if err != nil {
		return reply{}, rota.Errorf(rota.Unavailable, "backup", "cannot create a directory for the copy: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rota.db")
	if err := c.copyStore(path); err != nil {
		return reply{}, err
	}
	file, err := os.Open(path)
	if err != nil {
		return reply{}, rota.Errorf(rota.Internal, "backup", "cannot open the copy: %w", err)
	}
	defer file.Close()
	_ = os.RemoveAll(dir) // the open file stays readable; on systems that refuse this, the deferred call removes the directory
	return reply{written: true}, c.sendFile(file)
}

// copyStore copies the store, unless the copy would fill the disk. The size of the copy is known from
// its first progress report.
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
		Reason: fmt.Sprintf("the copy needs %s more; %s are free, of which %s stay reserved", problem.Size(total-done), problem.Size(int64(free)), problem.Size(diskReserve)),
		Hint:   "free disk space on the server",
	}
}

func (c *call) sendFile(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return rota.Errorf(rota.Internal, "backup", "cannot read the copy: %w", err)
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/vnd.sqlite3")
	h.Set("Content-Length", fmt.Sprint(info.Size()))
	h.Set("Content-Disposition", `attachment; filename="rota-`+c.Clock().UTC().Format("20060102-150405")+`.db"`)
	c.w.WriteHeader(http.StatusOK)
	if _, err := copyBody(c.w, file); err != nil {
		abortResponse() // the client has disconnected, or must see that the copy is incomplete
	}
	return nil
}
