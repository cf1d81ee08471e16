package httpapi

import (
	"encoding/binary"

	"github.com/rotajobs/rota"
)

func (a *api) auditRoutes() {
	get(a, operation{
		method: "GET", path: "/audit", id: "list-audit", tag: "Server", summary: "List the audit",
		description: "In the order in which it was written.", query: pageParams(), answer: List[AuditEntry]{},
	}, listAudit)
}

func listAudit(c *call) (reply, error) {
	limit, err := c.limit()
	if err != nil {
		return reply{}, err
	}
	text, _ := c.given("cursor")
	place, err := readCursor(markAudit, text)
	if err != nil {
		return reply{}, err
	}
	after := int64(0)
	if place != nil {
		if len(place) != 8 {
			return reply{}, malformed("cursor", "is not one that this server made; leave it out to begin anew")
		}
		after = int64(binary.BigEndian.Uint64(place))
	}
	rows, err := c.Store.Audit(c.ctx, after, askFor(limit))
	if err != nil {
		return reply{}, err
	}
	return ok(pageOf(rows, limit, NewAuditEntry, func(e rota.AuditEntry) Text {
		return cursorOf(markAudit, binary.BigEndian.AppendUint64(nil, uint64(e.Seq)))
	}))
}
