package httpapi

import (
	"bufio"
	"context"
	"net/http"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/auditchain"
)

func (a *server) auditExportRoutes() {
	get(a, operation{
		method: "GET", path: "/audit/export", id: "export-audit", scope: readScope, tag: "Server", summary: "Download the whole audit with its chain and a signed head",
		description: "JSON objects, one a line: a header, the entries that are derived from kept jobs, the anchor and the signed head, the sealed entries in the order of " +
			"the chain, and the end. rota audit verify --file checks such a file without the server. A response that was cut off has no end.",
		mediaType: "application/x-ndjson", errors: []int{409}, class: classStream, need: rota.Admin,
	}, exportAudit)
}

func exportAudit(c *call) (reply, error) {
	chain, err := c.auditChain("export audit")
	if err != nil {
		return reply{}, err
	}
	export := auditchain.Export{Chain: chain, Audit: c.Store.Audit, Head: c.signedHead}
	to := &exportWriter{c: c}
	lines := bufio.NewWriterSize(to, writeChunk)
	err = export.Write(c.ctx, lines)
	if err == nil {
		err = lines.Flush()
	}
	if err != nil {
		if !to.begun {
			return reply{}, err
		}
		c.Logger.Warn("an export of the audit was not completed", "error", err)
		abortResponse()
	}
	return reply{written: true}, nil
}

// signedHead signs a new head and returns it. If the chain does not continue the last head, it returns that one:
// it proves that the audit was tampered with.
func (c *call) signedHead(ctx context.Context) (*rota.AuditHead, error) {
	if c.Auditor == nil {
		return nil, nil
	}
	if err := c.Auditor.SignHead(ctx); err != nil && rota.CodeOf(err) != rota.Conflict {
		return nil, err
	}
	return c.Auditor.Head(), nil
}

// exportWriter begins the response with the first lines.
type exportWriter struct {
	c     *call
	begun bool
}

// Write sends lines, for any duration, while the client keeps accepting data.
func (w *exportWriter) Write(lines []byte) (int, error) {
	if !w.begun {
		w.begun = true
		h := w.c.w.Header()
		h.Set("Content-Type", "application/x-ndjson")
		h.Set("Content-Disposition", `attachment; filename="rota-audit-`+w.c.Clock().UTC().Format("20060102-150405")+`.jsonl"`)
		clearDeadlines(w.c.w)
		w.c.w.WriteHeader(http.StatusOK)
	}
	extendWriteDeadline(w.c.w)
	return w.c.w.Write(lines)
}
