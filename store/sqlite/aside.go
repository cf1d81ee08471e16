package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// asides are what reads for long: a verification or a backup. Each has a
// connection of its own, since a few of them would else keep everybody who only
// asks for a job from the readers.
type asides struct {
	mu    sync.Mutex
	shut  bool
	under sync.WaitGroup // way
}

// enter is false once the store is closed.
func (a *asides) enter() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.shut {
		a.under.Add(1)
	}
	return !a.shut
}

// close lets nobody in any more, and waits for those who are. They end soon:
// the store is closed, which they see.
func (a *asides) close() error {
	a.mu.Lock()
	a.shut = true
	a.mu.Unlock()
	a.under.Wait()
	return nil
}

// aside reads on a connection of its own, which is gone afterwards. The end of
// ctx and that of the store interrupt it.
func (s *Store) aside(ctx context.Context, act string, use func(*sqlite.Conn) error) error {
	if !s.asides.enter() {
		return errClosed()
	}
	defer s.asides.under.Done()
	if err := ctx.Err(); err != nil {
		return err
	}
	alive, end := s.whileOpen(ctx)
	defer end()
	return s.readFault(ctx, act, s.readAlone(alive, use))
}

// whileOpen ends with ctx, and with the store.
func (s *Store) whileOpen(ctx context.Context) (alive context.Context, end func()) {
	alive, end = context.WithCancel(ctx)
	go func() {
		select {
		case <-s.closed:
			end()
		case <-alive.Done():
		}
	}()
	return alive, end
}

func (s *Store) readAlone(alive context.Context, use func(*sqlite.Conn) error) error {
	conn, err := s.openAlone(alive)
	if err != nil {
		return err
	}
	defer conn.Close()
	return snapshot(conn, use)
}

// openAlone opens a connection that only reads, and belongs to whoever asked.
func (s *Store) openAlone(alive context.Context) (*sqlite.Conn, error) {
	if err := s.file.stillThere(); err != nil {
		return nil, err
	}
	conn, err := sqlite.OpenConn(s.file.path, readerFlags)
	if err != nil {
		return nil, err
	}
	conn.SetInterrupt(alive.Done())
	if err := prepareReader(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// place is where the file was when it was opened, whatever directory the
// process works in since.
type place struct {
	path string
	info os.FileInfo
}

func placeOf(path string) (p place, err error) {
	if p.path, err = filepath.Abs(realPath(path)); err == nil {
		p.info, err = os.Stat(p.path)
	}
	return p, err
}

// stillThere refuses a file that was moved away, or has another in its place:
// those who have it open would go on with it, and who opens it anew would not.
func (p place) stillThere() error {
	info, err := os.Stat(p.path)
	if err == nil && os.SameFile(info, p.info) {
		return nil
	}
	return &rota.Error{
		Code: rota.Unavailable, Act: "sqlite", Reason: p.path + " is not the file that was opened; it was moved or replaced", Err: err,
		Hint: "stop this process before anything else is done to its files",
	}
}
