package node

import (
	"context"
	"errors"
	"slices"
	"time"
)

// How long requests may go on once no job runs any more: those that are soon
// answered are, and those who follow something are told to come back.
const (
	hangUpAfter = 500 * time.Millisecond
	closeAfter  = 5 * time.Second
)

// stop ends the node in the order that loses nothing: no new jobs, the end of
// those that run recorded, and everybody answered while that takes.
func (n *Node) stop(die context.CancelFunc, jobs, web *task) {
	die()
	n.stopping.Store(true) // then: whoever sees it may rely on that nothing more is asked for
	n.logger.Info("stopping: no more jobs are started",
		"running", n.engine.Snapshot().Running, "deliveries", n.lane.Snapshot().Running, "grace", n.config.ShutdownGrace)
	<-jobs.done
	n.hang(web)
	if err := removeAddr(n.path(addrName)); err != nil {
		n.logger.Warn("the address file stays", "error", err)
	}
}

// hang ends the API.
func (n *Node) hang(web *task) {
	ctx, done := context.WithTimeout(context.Background(), closeAfter)
	defer done()
	go func() {
		select {
		case <-time.After(hangUpAfter):
		case <-n.cut:
		case <-ctx.Done():
		}
		n.hangUp()
	}()
	if err := n.server.Shutdown(ctx); err != nil {
		_ = n.server.Close()
	}
	<-web.done
}

// Cut ends a stop that takes too long: running jobs are cut off and recorded as
// FAILED with the code shutdown, to be retried at the next start.
func (n *Node) Cut() {
	n.cutIt.Do(func() { close(n.cut) })
	n.engine.Cut()
	n.lane.Cut()
}

// closeLast has something closed when the node is, after all that comes later.
func (n *Node) closeLast(closer func() error) { n.closers = append(n.closers, closer) }

// Close gives back what Open took. Run does it by itself.
func (n *Node) Close() error {
	n.closing.Do(func() {
		for _, closer := range slices.Backward(n.closers) {
			n.closed = errors.Join(n.closed, closer())
		}
	})
	return n.closed
}
