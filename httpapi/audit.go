package httpapi

import (
	"encoding/binary"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func (a *server) auditRoutes() {
	get(a, operation{
		method: "GET", path: "/audit", id: "list-audit", tag: "Server", summary: "List audit entries",
		description: "Newest first. With order=asc oldest first, to follow the audit.",
		query: pageParams(param{
			name: "order", form: formText, doc: "desc: newest first (default); asc: oldest first.", enum: auditOrders,
		}), response: api.List[api.AuditEntry]{},
	}, listAudit)
}

var auditOrders = []string{"desc", "asc"}

func listAudit(c *call) (reply, error) {
	if c.word("order") != "asc" {
		return auditDescending(c)
	}
	return rowList[rota.AuditEntry, api.AuditEntry]{
		kind: cursorAudit, show: api.NewAuditEntry, position: seqPosition,
		read: func(after []byte, n int) ([]rota.AuditEntry, error) { return c.Store.Audit(c.ctx, seqAt(after), n) },
	}.page(c)
}

// auditDescending lists the audit newest first. Its entries are numbered without gaps and never
// removed, so the entries before a number are known.
func auditDescending(c *call) (reply, error) {
	position, err := c.position(cursorAuditDescending)
	if err != nil {
		return reply{}, err
	}
	before := seqAt(position)
	if before == 0 {
		last, err := c.lastAudit()
		if err != nil {
			return reply{}, err
		}
		before = last + 1
	}
	page := api.List[api.AuditEntry]{Items: []api.AuditEntry{}}
	after := max(0, before-1-int64(c.limit()))
	if after == before-1 {
		return ok(page)
	}
	rows, err := c.Store.Audit(c.ctx, after, int(before-1-after))
	if err != nil {
		return reply{}, err
	}
	for _, row := range slices.Backward(rows) {
		page.Items = append(page.Items, api.NewAuditEntry(row))
	}
	if after > 0 {
		page.NextCursor = cursorOf(cursorAuditDescending, seqPosition(rows[0]))
	}
	return ok(page)
}

// lastAudit returns the number of the newest entry, 0 if there is none. It searches from an entry that
// is known to exist, with strides that grow and then shrink.
func (c *call) lastAudit() (int64, error) {
	last, stride := c.lastAuditSeq.Load(), int64(1)
	for growing := true; stride > 0; {
		rows, err := c.Store.Audit(c.ctx, last+stride-1, 1)
		switch {
		case err != nil:
			return 0, err
		case len(rows) > 0:
			last += stride
		default:
			growing = false
		}
		if growing {
			stride *= 2
		} else {
			stride /= 2
		}
	}
	c.lastAuditSeq.Store(last)
	return last, nil
}

func seqPosition(e rota.AuditEntry) []byte { return binary.BigEndian.AppendUint64(nil, uint64(e.Seq)) }

// seqAt returns the number of a position, 0 for the start of the list.
func seqAt(position []byte) int64 {
	if position == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(position))
}
