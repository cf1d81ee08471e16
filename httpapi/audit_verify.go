package httpapi

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// Auditor is the part of a node in the audit: its key and the heads that it has signed.
type Auditor interface {
	Key() rota.AuditKey
	// Head returns the last signed head, nil if there is none. Its key is another one if someone replaced the
	// file or the key.
	Head() *rota.AuditHead
	// Trust returns what the node knows of the audit apart from the store.
	Trust() rota.AuditTrust
	// SignHead signs a new head if the chain has changed. It returns Conflict if the chain does not continue
	// the last head.
	SignHead(ctx context.Context) error
}

// headsMax is how many earlier heads a request may compare.
const headsMax = 100

func (a *server) auditVerifyRoutes() {
	get(a, operation{
		method: "GET", path: "/audit/verify", id: "verify-audit", scope: readScope, tag: "Server", summary: "Check the audit for tampering",
		description: "Computes the chain of the stored entries again, compares it with the last signed head of this node and with earlier ones, and names the " +
			"first entry that was changed, removed, inserted or cut off. Only one check runs at a time.",
		query: []param{
			{name: "head", form: formText, list: true, doc: "Earlier heads, separated by commas, each as SEQ:HASH, or as SEQ:HASH:SEQ:HASH with its anchor. The client checks their signatures.", example: "12:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
			{name: "key", form: formText, list: true, doc: "Public keys of the nodes that may have removed entries, separated by commas. The key of this node and those of audit_keys are always allowed."},
		},
		response: api.AuditVerification{}, errors: []int{409}, class: classVerify, need: rota.Admin,
	}, verifyAudit)
}

func verifyAudit(c *call) (reply, error) {
	trust, heads, err := c.auditTrust()
	if err != nil {
		return reply{}, asMalformed(err)
	}
	chain, err := c.auditChain("verify audit")
	if err != nil {
		return reply{}, err
	}
	key, foreign := "", (*rota.AuditFault)(nil)
	if c.Auditor != nil {
		key = c.Auditor.Key().String()
		if head := c.Auditor.Head(); head != nil && head.Key == c.Auditor.Key() {
			heads++
		} else if head != nil {
			foreign = &rota.AuditFault{Kind: rota.AuditChanged, Detail: fmt.Sprintf("the file audit.head of this node, with entry %d, is signed with the key %s: "+
				"someone replaced the file or the key of the node", head.Seq, head.Key)}
		}
	}
	clearDeadlines(c.w)
	report, err := chain.VerifyAudit(c.ctx, trust)
	if err != nil {
		return reply{}, err
	}
	if report.Fault == nil && foreign != nil { // no head of this node vouches for any entry
		report.Fault, foreign.Seq = foreign, report.Anchor.Seq+1
	}
	return ok(api.NewAuditVerification(report, heads, key))
}

// auditChain returns the chain of the audit.
func (c *call) auditChain(act string) (rota.AuditChain, error) {
	if c.Audit != nil {
		return c.Audit, nil
	}
	chain, has := rota.StoreAs[rota.AuditChain](c.server.Store)
	if !has {
		return nil, rota.Errorf(rota.Conflict, act, "the store has no chain of the audit")
	}
	return chain, nil
}

// auditTrust returns what the node and the client know of the audit, and the number of heads of the client.
func (c *call) auditTrust() (trust rota.AuditTrust, heads int, err error) {
	if c.Auditor != nil {
		trust = c.Auditor.Trust()
	}
	kept, err := parseHeads(c.query.Get("head"))
	if err != nil {
		return trust, 0, err
	}
	for i := range kept {
		trust.Add(&kept[i])
	}
	keys, err := parseKeys(c.query.Get("key"))
	if err != nil {
		return trust, 0, err
	}
	trust.Keys = append(trust.Keys, keys...)
	return trust, len(kept), nil
}

// parseHeads reads the numbers and hashes of earlier heads and of their anchors.
func parseHeads(text string) (heads []rota.AuditHead, err error) {
	parts, err := parseList("head", text)
	for _, part := range parts {
		fields := strings.Split(part, ":")
		h := rota.AuditHead{}
		ok := parsePoint(fields, &h.Seq, &h.Hash)
		if len(fields) == 4 {
			ok = ok && parsePoint(fields[2:], &h.AnchorSeq, &h.AnchorHash)
		} else {
			ok = ok && len(fields) == 2
		}
		if !ok || h.AnchorSeq > h.Seq {
			return nil, rota.Invalidf("head", "is not SEQ:HASH or SEQ:HASH:SEQ:HASH, with numbers and 64 hexadecimal digits each")
		}
		heads = append(heads, h)
	}
	return heads, err
}

func parsePoint(fields []string, seq *int64, hash *rota.AuditHash) bool {
	if len(fields) < 2 {
		return false
	}
	n, err := strconv.ParseInt(fields[0], 10, 64)
	*seq = n
	return err == nil && n >= 0 && hash.UnmarshalText([]byte(fields[1])) == nil
}

// parseKeys reads public keys.
func parseKeys(text string) (keys []rota.AuditKey, err error) {
	parts, err := parseList("key", text)
	for _, part := range parts {
		var key rota.AuditKey
		if err := key.UnmarshalText([]byte(part)); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, err
}

func parseList(name, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) > headsMax {
		return nil, rota.Invalidf(name, "has %d values; at most %d are allowed", len(parts), headsMax)
	}
	return parts, nil
}
