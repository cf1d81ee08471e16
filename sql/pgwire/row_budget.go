package pgwire

import (
	"sync/atomic"

	"github.com/rotajobs/rota/sql/system"
)

// rowBudget limits the memory of rows that clients have not fetched yet, per connection and for
// the whole server: a client can leave a portal half read.
type rowBudget struct {
	connBytes   int
	serverBytes *atomic.Int64
}

const (
	connRowBytesMax   = 64 << 20
	serverRowBytesMax = 256 << 20
)

// hold counts the unsent rows of a portal, once.
func (a *rowBudget) hold(p *portal) error {
	if p.unfetchedBytes > 0 {
		return nil
	}
	for _, row := range p.answer.Rows[p.sent:] {
		p.unfetchedBytes += system.RowBytes(row)
	}
	a.connBytes += p.unfetchedBytes
	if all := a.serverBytes.Add(int64(p.unfetchedBytes)); a.connBytes > connRowBytesMax || all > serverRowBytesMax {
		a.release(p)
		return errorf(stateLimit, "fetch the remaining rows, or close the portals", "rows not yet fetched from open portals exceed %d MiB", connRowBytesMax>>20)
	}
	return nil
}

// release drops the rows of a portal.
func (a *rowBudget) release(p *portal) {
	a.connBytes -= p.unfetchedBytes
	a.serverBytes.Add(-int64(p.unfetchedBytes))
	p.unfetchedBytes = 0
	if p.answer != nil {
		p.answer.Release()
		p.sent = 0
	}
}
