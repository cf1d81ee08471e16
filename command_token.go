package rota

import (
	"fmt"
	"time"
)

// PutToken creates a token of a user. The caller creates the token itself and sends only its hash.
type PutToken struct {
	Meta      `wire:"1"`
	TokenID   string     `wire:"2"` // 8 to 32 letters and digits
	User      string     `wire:"3"` // an existing user, or AdminUser
	Scope     TokenScope `wire:"4"`
	Type      string     `wire:"5"` // of scope worker: the only type it may claim; empty: all
	Job       string     `wire:"6"` // the only definition it may see and use; empty: all
	Hash      string     `wire:"7"` // SHA-256 of the whole token
	Verifier  string     `wire:"8"` // SCRAM verifier of the whole token; empty: it cannot log in on the SQL port
	ExpiresAt time.Time  `wire:"9"` // after Batch.Now, at most TokenMax; zero: never
}

// Verb returns the kind of the command.
func (*PutToken) Verb() Verb { return VerbPutToken }

// Validate checks everything but the expiry, which depends on the time of the batch.
func (c *PutToken) Validate() error {
	err := first(
		checkTokenID("token_id", c.TokenID),
		checkName("user", c.User, true),
		checkOneOf("scope", c.Scope, TokenScopes...),
		checkName("type", c.Type, false),
		checkName("job", c.Job, false),
		checkHash("hash", c.Hash),
		checkTime("expires_at", c.ExpiresAt),
	)
	switch {
	case err != nil:
		return err
	case c.Type != "" && c.Scope != ScopeWorker:
		return Invalidf("type", "is set, but only tokens of scope worker are limited to a type; leave it out, or use the scope worker")
	case c.Job != "" && c.Scope == ScopeSession:
		return Invalidf("job", "is set, but a session is that of a user; leave it out, or use another scope")
	case c.Job != "" && c.Scope == ScopeWorker:
		return Invalidf("job", "is set, but a token of scope worker claims jobs of all definitions; leave it out, and limit the token to a type")
	case c.Verifier != "":
		return asError(checkVerifier("verifier", c.Verifier))
	}
	return nil
}

func (c *PutToken) weigh() (entries, bytes int) { return 1, entryBytes + len(c.Verifier) }

// TokenPut answers PutToken. Changed is false if an earlier sending of the command created the token, whose secret only
// the sender of that one knows. Token is nil if it has been deleted since.
type TokenPut struct {
	Token   *AccessToken `wire:"1"`
	Changed bool         `wire:"2"`
}

func (*TokenPut) reply() {}

// AccessRecord is one security event: a login, a refused login, a refused request, or a job that ran with the rights of a role.
type AccessRecord struct {
	Act         string `wire:"1"` // one of AuditLogin, AuditLoginFailed, AuditAccessDenied and AuditRunAs
	Actor       string `wire:"2"`
	Subject     string `wire:"3"`
	JobID       ID     `wire:"4"`
	RunID       ID     `wire:"5"`
	Count       int    `wire:"6"` // how often it happened since the last record; the detail states it if it is more than 1
	Detail      string `wire:"7"`
	ExecutionID ID     `wire:"8"` // of the job
	Schedule    string `wire:"9"` // of the job
}

// RecordAccess writes security events into the audit.
type RecordAccess struct {
	Meta    `wire:"1"`
	Records []AccessRecord `wire:"2"`
}

// Verb returns the kind of the command.
func (*RecordAccess) Verb() Verb { return VerbRecordAccess }

// Validate checks the records.
func (c *RecordAccess) Validate() error {
	if err := checkCount("records", len(c.Records), 1, AccessRecordsMax); err != nil {
		return err
	}
	for i := range c.Records {
		r := &c.Records[i]
		err := first(
			checkOneOf("act", r.Act, AuditLogin, AuditLoginFailed, AuditAccessDenied, AuditRunAs),
			checkText("actor", r.Actor, NameMax), checkText("subject", r.Subject, KeyMax),
			checkInt("count", r.Count, 0, AccessCountMax), checkText("detail", r.Detail, ReasonMax),
			checkName("schedule", r.Schedule, false),
		)
		if err != nil {
			return within(fmt.Sprintf("records[%d]", i), err)
		}
	}
	return nil
}

func (c *RecordAccess) weigh() (entries, bytes int) {
	for i := range c.Records {
		bytes += entryBytes + len(c.Records[i].Subject) + len(c.Records[i].Schedule) + len(c.Records[i].Detail)
	}
	return len(c.Records), bytes
}

// AccessRecorded answers RecordAccess with the number of entries that it wrote.
type AccessRecorded struct {
	Recorded int `wire:"1"`
}

func (*AccessRecorded) reply() {}

// checkTokenID requires an id that needs no quoting and cannot be confused with the rest of the token.
func checkTokenID(field, id string) *Error {
	if len(id) < TokenIDMin || len(id) > TokenIDMax {
		return Invalidf(field, "has %d characters; allowed are %d to %d letters and digits", len(id), TokenIDMin, TokenIDMax)
	}
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return Invalidf(field, "contains characters other than letters and digits")
		}
	}
	return nil
}
