package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// longReads counts reads that take long: verifications, backups, and views while they open. Each
// uses a connection of its own, so that they do not block short reads that wait for the pool.
type longReads struct {
	mu     sync.Mutex
	closed bool
	active sync.WaitGroup
}

// begin returns false if the store is closed.
func (a *longReads) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.active.Add(1)
	}
	return !a.closed
}

// close refuses new long reads and waits for those that run. They end soon, because Store.closed
// interrupts them.
func (a *longReads) close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.active.Wait()
	return nil
}

// withOwnConn calls use with a snapshot on a new connection, and closes it afterwards. The end of
// ctx and Close interrupt it.
func (s *Store) withOwnConn(ctx context.Context, act string, use func(*sqlite.Conn) error) error {
	if !s.longReads.begin() {
		return errClosed()
	}
	defer s.longReads.active.Done()
	if err := firstError(ctx.Err, func() error { return s.catchUp(ctx) }); err != nil {
		return err
	}
	storeCtx, end := s.untilClosed(ctx)
	defer end()
	return s.readFault(ctx, act, s.readOnOwnConn(storeCtx, use))
}

// untilClosed returns a context that ends with ctx or with the store.
func (s *Store) untilClosed(ctx context.Context) (storeCtx context.Context, end func()) {
	storeCtx, end = context.WithCancel(ctx)
	go func() {
		select {
		case <-s.closed:
			end()
		case <-storeCtx.Done():
		}
	}()
	return storeCtx, end
}

func (s *Store) readOnOwnConn(storeCtx context.Context, use func(*sqlite.Conn) error) error {
	conn, err := s.openReader(storeCtx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return inSnapshot(conn, use)
}

// openReader opens a read-only connection that the caller closes.
func (s *Store) openReader(storeCtx context.Context) (*sqlite.Conn, error) {
	if err := s.file.checkInPlace(); err != nil {
		return nil, err
	}
	conn, err := sqlite.OpenConn(s.file.path, readerFlags)
	if err != nil {
		return nil, err
	}
	conn.SetInterrupt(storeCtx.Done())
	if err := prepareReader(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// openedFile identifies the file that was opened. Its path is absolute, so that it stays valid
// after a change of the working directory.
type openedFile struct {
	path string
	info os.FileInfo
}

func identifyFile(path string) (p openedFile, err error) {
	if p.path, err = filepath.Abs(realPath(path)); err == nil {
		p.info, err = os.Stat(p.path)
	}
	return p, err
}

// checkInPlace returns an error if the file was moved or replaced: open connections still use the
// old file, and a new connection would open another.
func (p openedFile) checkInPlace() error {
	info, err := os.Stat(p.path)
	if err == nil && os.SameFile(info, p.info) {
		return nil
	}
	return &rota.Error{
		Code: rota.Unavailable, Act: "sqlite", Reason: p.path + " was moved or replaced after the store was opened", Err: err,
		Hint: "stop this process before you move or replace its files, then start it again",
	}
}
