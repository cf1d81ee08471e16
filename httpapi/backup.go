package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
)

func (a *api) backupRoutes() {
	get(a, operation{
		method: "GET", path: "/backup", id: "backup", tag: "Server", summary: "Download a consistent copy of the store",
		description: "Made while the server goes on. One at a time.", text: "application/vnd.sqlite3", errors: []int{409}, stream: true,
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
	if !c.copying.enter() {
		return reply{}, busyHere{rota.Errorf(rota.Busy, "backup", "another backup is under way")}
	}
	defer c.copying.leave()
	unbounded(c.w)
	dir, err := os.MkdirTemp(c.ScratchDir, "rota-backup-")
	if err != nil {
		return reply{}, rota.Errorf(rota.Unavailable, "backup", "there is no room for the copy: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rota.db")
	if err := c.Backup(c.ctx, path, func(int64, int64) {}); err != nil {
		return reply{}, err
	}
	return reply{written: true}, c.sendFile(path)
}

func (c *call) sendFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return rota.Errorf(rota.Internal, "backup", "the copy is gone: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return rota.Errorf(rota.Internal, "backup", "the copy cannot be read: %w", err)
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/vnd.sqlite3")
	h.Set("Content-Length", fmt.Sprint(info.Size()))
	h.Set("Content-Disposition", `attachment; filename="rota-`+c.Clock().UTC().Format("20060102-150405")+`.db"`)
	c.w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(c.w, file); err != nil {
		panic(http.ErrAbortHandler) // the client has gone, or must see that it has not all of it
	}
	return nil
}

// unbounded lets an answer take longer than the server's time-outs.
func unbounded(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // a writer without deadlines needs none lifted
	_ = control.SetReadDeadline(time.Time{})
}
