package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// longReads are what reads for long: a verification or a backup. Each has a
// connection of its own, since a few of them would else keep everybody who only
// asks for a job from the readers.
type longReads struct {
	mu     sync.Mutex
	closed bool
	active sync.WaitGroup // way
}

// begin is false once the store is closed.
func (a *longReads) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.active.Add(1)
	}
	return !a.closed
}

// close lets nobody in any more, and waits for those who are. They end soon:
// the store is closed, which they see.
func (a *longReads) close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.active.Wait()
	return nil
}

// withOwnConn reads on a connection of its own, which is gone afterwards. The end of
// ctx and that of the store interrupt it.
func (s *Store) withOwnConn(ctx context.Context, act string, use func(*sqlite.Conn) error) error {
	if !s.longReads.begin() {
		return errClosed()
	}
	defer s.longReads.active.Done()
	if err := ctx.Err(); err != nil {
		return err
	}
	storeCtx, end := s.untilClosed(ctx)
	defer end()
	return s.readFault(ctx, act, s.readOnOwnConn(storeCtx, use))
}

// untilClosed ends with ctx, and with the store.
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

// openReader opens a connection that only reads, and belongs to whoever asked.
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

// openedFile is where the file was when it was opened, whatever directory the
// process works in since.
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

// checkInPlace refuses a file that was moved away, or has another in its place:
// those who have it open would go on with it, and who opens it anew would not.
func (p openedFile) checkInPlace() error {
	info, err := os.Stat(p.path)
	if err == nil && os.SameFile(info, p.info) {
		return nil
	}
	return &rota.Error{
		Code: rota.Unavailable, Act: "sqlite", Reason: p.path + " is not the file that was opened; it was moved or replaced", Err: err,
		Hint: "stop this process before anything else is done to its files",
	}
}
