package pgwire

import (
	"sync/atomic"

	"github.com/rotajobs/rota/console/sys"
)

// allowance is what a connection may hold of answers that its client fetches bit by
// bit, and what all connections may together: a client can leave them lying.
type allowance struct {
	mine int
	all  *atomic.Int64
}

const (
	keptMost    = 64 << 20
	keptAllMost = 512 << 20
)

// hold counts the rows of a portal that are not sent yet, once.
func (a *allowance) hold(p *portal) error {
	if p.held > 0 {
		return nil
	}
	for _, row := range p.answer.Rows[p.sent:] {
		p.held += sizeOf(row)
	}
	a.mine += p.held
	if all := a.all.Add(int64(p.held)); a.mine > keptMost || all > keptAllMost {
		a.release(p)
		return refuse(stateLimit, "fetch them to the end, or close the portals", "rows that were not fetched take more than %d MiB", keptMost>>20)
	}
	return nil
}

// release forgets the rows of a portal.
func (a *allowance) release(p *portal) {
	a.mine -= p.held
	a.all.Add(-int64(p.held))
	p.held = 0
	if p.answer != nil {
		p.answer.Rows, p.sent = nil, 0
	}
}

// rowBytes is about what a row takes beside what its texts do.
const rowBytes = 48

func sizeOf(row []any) int {
	size := rowBytes
	for _, v := range row {
		size += 16
		switch v := v.(type) {
		case string:
			size += len(v)
		case []byte:
			size += len(v)
		case sys.Named:
			size += len(v.Name)
		}
	}
	return size
}
