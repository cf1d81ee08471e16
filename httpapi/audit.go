package httpapi

import (
	"encoding/binary"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
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
	limit, err := c.limit()
	if err != nil {
		return reply{}, err
	}
	order, err := c.enumParam("order", auditOrders...)
	if err != nil {
		return reply{}, err
	}
	text, _ := c.queryParam("cursor")
	if order == "asc" {
		return auditAscending(c, limit, text)
	}
	return auditDescending(c, limit, text)
}

// auditAscending lists the audit oldest first.
func auditAscending(c *call, limit int, cursor string) (reply, error) {
	after, err := readSeqCursor(cursorAudit, cursor)
	if err != nil {
		return reply{}, err
	}
	rows, more, err := readPage(c, limit, nil, func(last *rota.AuditEntry, n int) ([]rota.AuditEntry, error) {
		if last != nil {
			after = last.Seq
		}
		return c.Store.Audit(c.ctx, after, n)
	})
	if err != nil {
		return reply{}, err
	}
	return ok(newList(rows, more, api.NewAuditEntry, func(e rota.AuditEntry) api.Text { return seqCursor(cursorAudit, e.Seq) }))
}

// auditDescending lists the audit newest first. Its entries are numbered without gaps and never
// removed, so the entries before a number are known.
func auditDescending(c *call, limit int, cursor string) (reply, error) {
	before, err := readSeqCursor(cursorAuditDescending, cursor)
	if err != nil {
		return reply{}, err
	}
	if before == 0 {
		last, err := c.lastAudit()
		if err != nil {
			return reply{}, err
		}
		before = last + 1
	}
	after := max(0, before-1-int64(limit))
	if after == before-1 {
		return ok(api.List[api.AuditEntry]{Items: []api.AuditEntry{}})
	}
	rows, err := c.Store.Audit(c.ctx, after, int(before-1-after))
	if err != nil {
		return reply{}, err
	}
	slices.Reverse(rows)
	return ok(newList(rows, after > 0, api.NewAuditEntry, func(e rota.AuditEntry) api.Text { return seqCursor(cursorAuditDescending, e.Seq) }))
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

func seqCursor(kind cursorKind, seq int64) api.Text {
	return cursorOf(kind, binary.BigEndian.AppendUint64(nil, uint64(seq)))
}

// readSeqCursor returns 0 if there is no cursor.
func readSeqCursor(kind cursorKind, text string) (int64, error) {
	position, err := readCursor(kind, text)
	if err != nil || position == nil {
		return 0, err
	}
	if len(position) != 8 {
		return 0, problem.Malformed("cursor", "is not a cursor of this server; omit it to start from the first page")
	}
	return int64(binary.BigEndian.Uint64(position)), nil
}
