package rota

import (
	"fmt"
	"slices"
	"time"
)

// PutPrincipal creates a user or a role, or changes the credentials of a user. Its
// memberships and grants stay.
type PutPrincipal struct {
	Meta    `wire:"1"`
	Name    string        `wire:"2"`
	Kind    PrincipalKind `wire:"3"` // the kind of an existing principal cannot change
	Mode    PutMode       `wire:"4"`
	Version *ID           `wire:"5"` // version the caller has read; nil: any
	// Verifier and Certificate are those of PrincipalSpec; nil: unchanged; empty: removed. A role has neither.
	Verifier    *string `wire:"6"`
	Certificate *string `wire:"7"` // no other user may have it
}

// Verb returns the kind of the command.
func (*PutPrincipal) Verb() Verb { return VerbPutPrincipal }

// Validate requires a name that is not reserved and checks the credentials.
func (c *PutPrincipal) Validate() error {
	if err := first(checkNewName("name", c.Name), checkNotReserved("name", c.Name), checkKind(c.Kind), checkMode(c.Mode)); err != nil {
		return err
	}
	for _, one := range []struct {
		field string
		value *string
		check func(field, value string) *Error
	}{{"verifier", c.Verifier, checkVerifier}, {"certificate", c.Certificate, checkCertificate}} {
		if one.value == nil || *one.value == "" {
			continue
		}
		if c.Kind == KindRole {
			return Invalidf(one.field, "is set, but a role cannot log in; create a user, and grant it the role")
		}
		if err := one.check(one.field, *one.value); err != nil {
			return err
		}
	}
	return nil
}

func (c *PutPrincipal) weigh() (entries, bytes int) {
	return 1, entryBytes + optionalLength(c.Verifier) + optionalLength(c.Certificate)
}

func optionalLength(text *string) int {
	if text == nil {
		return 0
	}
	return len(*text)
}

// PrincipalPut answers PutPrincipal. Changed is false if nothing changed. Principal is nil if the
// command was sent again and the principal has been dropped since.
type PrincipalPut struct {
	Principal *Principal `wire:"1"`
	Changed   bool       `wire:"2"`
}

func (*PrincipalPut) reply() {}

// DropPrincipal deletes a user or a role. References to it stay: they are older than a principal that is
// created later under the same name, and have no effect on it.
type DropPrincipal struct {
	Meta `wire:"1"`
	Name string        `wire:"2"`
	Kind PrincipalKind `wire:"3"`
}

// Verb returns the kind of the command.
func (*DropPrincipal) Verb() Verb { return VerbDropPrincipal }

// Validate requires a name and a kind.
func (c *DropPrincipal) Validate() error {
	return asError(first(checkName("name", c.Name, true), checkNotReserved("name", c.Name), checkKind(c.Kind)))
}

// PrincipalDropped answers DropPrincipal. Gone means that an earlier sending of the command
// dropped it.
type PrincipalDropped struct {
	Gone bool `wire:"1"`
}

func (*PrincipalDropped) reply() {}

// GrantPrivileges grants privileges or a role to users and roles, or revokes them.
type GrantPrivileges struct {
	Meta       `wire:"1"`
	To         []string    `wire:"2"` // distinct names
	Privileges []Privilege `wire:"3"`
	Job        string      `wire:"4"` // name of a template or schedule; empty: all. Revoking on all keeps grants on one
	Role       string      `wire:"5"` // instead of privileges: the role to become a member of
	Revoke     bool        `wire:"6"`
}

// Verb returns the kind of the command.
func (*GrantPrivileges) Verb() Verb { return VerbGrantPrivileges }

// Validate requires principals, and either privileges or a role.
func (c *GrantPrivileges) Validate() error {
	if err := checkCount("to", len(c.To), 1, GranteesMax); err != nil {
		return err
	}
	for i, name := range c.To {
		field := fmt.Sprintf("to[%d]", i)
		if err := checkName(field, name, true); err != nil {
			return err
		}
		if slices.Contains(c.To[:i], name) {
			return Invalidf(field, "%s is listed twice; list each name once", quote(name))
		}
	}
	switch {
	case c.Role != "" && len(c.Privileges) > 0:
		return Invalidf("role", "is set beside privileges; send one command for each")
	case c.Role != "" && c.Job != "":
		return Invalidf("job", "is set, but a role is not granted on a job; leave the job out")
	case c.Role != "":
		return asError(checkName("role", c.Role, true))
	}
	return c.validatePrivileges()
}

func (c *GrantPrivileges) validatePrivileges() error {
	if err := checkCount("privileges", len(c.Privileges), 1, len(Privileges)); err != nil {
		return err
	}
	for i, p := range c.Privileges {
		field := fmt.Sprintf("privileges[%d]", i)
		if err := checkPrivilege(field, p, c.Job); err != nil {
			return err
		}
		if slices.Contains(c.Privileges[:i], p) {
			return Invalidf(field, "%s is listed twice; list each privilege once", p)
		}
	}
	return asError(checkName("job", c.Job, false))
}

func (c *GrantPrivileges) weigh() (entries, bytes int) {
	return len(c.To), entryBytes*len(c.To) + lengths(c.To)
}

// Granted answers GrantPrivileges, with the principals in the order of the command. A principal that has
// been dropped since is omitted from the answer to a command that was sent again.
type Granted struct {
	Principals []*Principal `wire:"1"`
	Changed    bool         `wire:"2"`
	Repeated   bool         `wire:"3"` // an earlier sending of the command changed them
}

func (*Granted) reply() {}

func checkKind(kind PrincipalKind) *Error { return checkOneOf("kind", kind, KindUser, KindRole) }

// checkNotReserved refuses the names of ReservedPrincipal.
func checkNotReserved(field, name string) *Error {
	if !ReservedPrincipal(name) {
		return nil
	}
	return &Error{
		Code: Invalid, Field: field, Reason: quote(name) + " is reserved",
		Hint: "choose another name; those of Rota, those that begin with " + TokenPrefix + " or pg_, and words of SQL cannot be used",
	}
}

// RevokeToken ends the use of a token.
type RevokeToken struct {
	Meta    `wire:"1"`
	TokenID string `wire:"2"`
}

// Verb returns the kind of the command.
func (*RevokeToken) Verb() Verb { return VerbRevokeToken }

// Validate requires an id.
func (c *RevokeToken) Validate() error { return asError(checkTokenID("token_id", c.TokenID)) }

// TokenRevoked answers RevokeToken. Changed is false if the token was revoked before.
type TokenRevoked struct {
	Token   *AccessToken `wire:"1"`
	Changed bool         `wire:"2"`
}

func (*TokenRevoked) reply() {}

// TokenUse is the time at which a token was used.
type TokenUse struct {
	TokenID string    `wire:"1"`
	At      time.Time `wire:"2"`
}

// TouchTokens records when tokens were last used. It is not audited and does not change the AccessState. Unknown
// tokens are ignored, and so are times before the last known one. A time after Batch.Now counts as Now.
type TouchTokens struct {
	Meta `wire:"1"`
	Uses []TokenUse `wire:"2"`
}

// Verb returns the kind of the command.
func (*TouchTokens) Verb() Verb { return VerbTouchTokens }

// Validate checks ids and times.
func (c *TouchTokens) Validate() error {
	if err := checkCount("uses", len(c.Uses), 1, AccessRecordsMax); err != nil {
		return err
	}
	for i, use := range c.Uses {
		err := first(checkTokenID("token_id", use.TokenID), checkTime("at", use.At))
		if err == nil && use.At.IsZero() {
			err = Invalidf("at", "is empty")
		}
		if err != nil {
			return within(fmt.Sprintf("uses[%d]", i), err)
		}
	}
	return nil
}

func (c *TouchTokens) weigh() (entries, bytes int) { return len(c.Uses), entryBytes * len(c.Uses) }

// TokensTouched answers TouchTokens with the number of tokens that changed.
type TokensTouched struct {
	Touched int `wire:"1"`
}

func (*TokensTouched) reply() {}
