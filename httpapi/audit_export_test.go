package httpapi_test

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/auditchain"
)

func TestAuditExportIsForAdmin(t *testing.T) {
	s := newServer(t)
	s.declare("mail")
	s.enqueue(`{"type":"mail"}`)
	headers, _ := s.user("eve", rota.ScopeWrite)
	for _, path := range []string{"audit/export", "audit/verify"} {
		s.send("GET", path, nil, headers...).problem(403, "denied")
	}
	answer := s.get("audit/export").is(200)
	if kind := answer.header.Get("Content-Type"); kind != "application/x-ndjson" {
		t.Errorf("content type %s", kind)
	}
	report, err := auditchain.VerifyExport(strings.NewReader(answer.text), rota.AuditTrust{})
	if err != nil || report.Fault != nil || report.Checked == 0 || report.Derived != 1 || report.Signed != nil {
		t.Errorf("%+v, %v\n%s", report, err, answer.text)
	}
}

func TestAuditVerifyRefusesBadHeads(t *testing.T) {
	s := newServer(t)
	s.declare("mail")
	hash := strings.Repeat("ab", 32)
	for _, head := range []string{"7", "7:", "x:" + hash, "-1:" + hash, "1:" + hash[:63], "1:" + hash + ":0", "1:" + hash + ":2:" + hash, "1:" + hash + ":0:" + hash + ":0", strings.Repeat("1:"+hash+",", 101)} {
		s.get("audit/verify?head="+head).field(400, "invalid", "head")
	}
	s.get("audit/verify?key=12").field(400, "invalid", "key")
	v := read[api.AuditVerification](s.get("audit/verify?head=1:" + hash).is(200))
	if v.Clean || v.Fault.Kind != rota.AuditChanged || v.Fault.Seq != 1 || v.Heads != 1 {
		t.Errorf("%+v", v)
	}
	v = read[api.AuditVerification](s.get("audit/verify?key=" + hash).is(200))
	if !v.Clean {
		t.Errorf("a key without an anchor: %+v", v.Fault)
	}
}
