package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testSecrets(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a secret is set, replaced and deleted", secretSet},
		{"a secret needs a template", secretMissing},
		{"the template of a dropped definition takes no secrets", secretOfDropped},
		{"an archived template keeps its secrets", secretOfArchived},
		{"secrets are removed with the definition of their template", secretsDropped},
		{"a recreated template begins without secrets", secretsRecreated},
		{"one command recreates a template and sets its secret again", secretOfRecreated},
		{"a template has a limited number of secrets", secretsLimited},
		{"the secrets of a template have a limited size together", secretBytesLimited},
		{"a value sealed with another key is refused as long as there are secrets", secretOtherKey},
		{"one command deletes the last secret and sets one of another key", secretKeyInAll},
		{"another key is promoted, and values are sealed again", secretsRotated},
		{"a value that was set meanwhile is not replaced by its earlier one", rewrapLate},
		{"a key is promoted only in place of the primary one", promoteOther},
		{"secrets are listed by template and key", secretsListed},
		{"secrets are audited without their ciphertext, and are events of the template", secretsAudited},
		{"secrets that leave with their definition are audited each, and are events", secretsAuditedWithTemplate},
		{"sealed secrets of webhooks need the key of the store", webhookKeys},
		{"secrets of webhooks are sealed again", webhooksRewrapped},
		{"a secret sent again late finds what is there now", secretLate},
	})
}

func (y *story) secretCommand(template, key, text string) *rota.PutSecret {
	return &rota.PutSecret{Meta: y.ids.meta(), Template: template, Key: key, Sealed: sealedBy(keyOne, text)}
}

func (y *story) putSecret(template, key string) {
	y.Helper()
	do[*rota.SecretPut](y, y.secretCommand(template, key, "value"))
}

func (y *story) promoteCommand() *rota.PromoteSecretKey {
	return &rota.PromoteSecretKey{Meta: y.ids.meta(), From: keyOne, To: keyTwo}
}

// rewrapCommand replaces the ciphertexts of all secrets of other keys than the second one.
func (y *story) rewrapCommand(text string) *rota.RewrapSecrets {
	y.Helper()
	c := &rota.RewrapSecrets{Meta: y.ids.meta()}
	all, err := y.s.Secrets(y.ctx, rota.SecretQuery{Fingerprint: keyTwo})
	for _, s := range must(y, "secrets", all, err) {
		c.Items = append(c.Items, rota.RewrappedSecret{Template: s.Template, Key: s.Key, Version: s.Version, Was: s.Fingerprint(), Sealed: sealedBy(keyTwo, text)})
	}
	return c
}

func (y *story) secret(template, key string) *rota.Secret {
	y.Helper()
	s, err := y.s.Secret(y.ctx, rota.SecretName{Template: template, Key: key})
	return must(y, "secret", s, err)
}

func (y *story) wantNoSecret(template, key string) {
	y.Helper()
	_, err := y.s.Secret(y.ctx, rota.SecretName{Template: template, Key: key})
	y.wantNotFound("secret "+template+"/"+key, err)
}

func (y *story) secretState() string {
	y.Helper()
	s, err := y.s.SecretState(y.ctx)
	s = must(y, "secret state", s, err)
	return fmt.Sprintf("%s %v", s.Primary, s.Needed)
}

func secretSet(y *story) {
	want(y, "state of a new store", y.secretState(), " []")
	y.declareTemplate("backup", rota.TemplateSpec{})
	c := y.secretCommand("backup", "PASSWORD", "one")
	c.Actor = "ada"
	first := do[*rota.SecretPut](y, c)
	want(y, "changed", first.Changed, true)
	want(y, "ciphertext in the answer", first.Secret.Sealed, "")
	created := y.now
	y.advance(time.Second)
	again := y.secretCommand("backup", "PASSWORD", "two")
	do[*rota.SecretPut](y, again)
	got := y.secret("backup", "PASSWORD")
	want(y, "stored", got.Sealed, again.Sealed)
	want(y, "version", got.Version, again.ID)
	want(y, "creator", got.CreatedBy, "ada")
	wantTime(y, "created", got.CreatedAt, created)
	wantTime(y, "updated", got.UpdatedAt, y.now)
	want(y, "state", y.secretState(), keyOne+" ["+keyOne+"]")
	want(y, "gone", do[*rota.SecretDeleted](y, &rota.DeleteSecret{Meta: y.ids.meta(), Template: "backup", Key: "PASSWORD"}).Gone, false)
	y.wantNoSecret("backup", "PASSWORD")
	want(y, "state", y.secretState(), keyOne+" []")
	y.wantField(rota.NotFound, "key", &rota.DeleteSecret{Meta: y.ids.meta(), Template: "backup", Key: "PASSWORD"})
	y.wantNoViolations()
}

func secretMissing(y *story) {
	y.wantField(rota.NotFound, "template", y.secretCommand("backup", "PASSWORD", "one"))
	want(y, "state", y.secretState(), " []")
}

func secretOfDropped(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	do[*rota.Dropped](y, &rota.Drop{Meta: y.ids.meta(), Name: "nightly"})
	y.wantField(rota.NotFound, "template", y.secretCommand("nightly", "PASSWORD", "one"))
}

func secretOfArchived(y *story) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.putSecret("backup", "A")
	do[*rota.TemplatePut](y, &rota.Archive{Meta: y.ids.meta(), Name: "backup"})
	y.putSecret("backup", "B")
	y.unarchive("backup")
	y.secret("backup", "A")
	y.secret("backup", "B")
}

func secretsDropped(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.declareTemplate("other", rota.TemplateSpec{})
	y.putSecret("nightly", "A")
	y.putSecret("nightly", "B")
	y.putSecret("other", "A")
	do[*rota.Dropped](y, &rota.Drop{Meta: y.ids.meta(), Name: "nightly"})
	y.wantNoSecret("nightly", "A")
	y.wantNoSecret("nightly", "B")
	y.secret("other", "A")
	y.declareTemplate("nightly", rota.TemplateSpec{})
	y.wantNoSecret("nightly", "A")
	y.wantNoViolations()
}

func secretsRecreated(y *story) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.putSecret("backup", "A")
	c := y.templateCommand("backup", rota.TemplateSpec{Description: "changed"})
	c.Mode = rota.PutReplace
	do[*rota.TemplatePut](y, c)
	y.secret("backup", "A")
	c = y.templateCommand("backup", rota.TemplateSpec{Description: "recreated"})
	c.Mode, c.Recreate = rota.PutReplace, true
	do[*rota.TemplatePut](y, c)
	y.wantNoSecret("backup", "A")
}

// secretOfRecreated sets the secret with the actor and at the time of its first value.
func secretOfRecreated(y *story) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.putSecret("backup", "A")
	y.advance(time.Second)
	y.putSecret("backup", "B")
	recreate := y.recreateTemplateCommand("backup", rota.TemplateSpec{Description: "recreated"})
	do[*rota.AllDone](y, y.allOf(recreate, y.secretCommand("backup", "B", "new"), y.secretCommand("backup", "A", "new")))
	for _, key := range []string{"A", "B"} {
		got := y.secret("backup", key)
		want(y, "stored", got.Sealed, sealedBy(keyOne, "new"))
		wantTime(y, "created", got.CreatedAt, y.now)
	}
	y.wantNoViolations()
}

func secretsLimited(y *story) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	var all []rota.Command
	for i := range rota.SecretsMax {
		all = append(all, y.secretCommand("backup", fmt.Sprintf("KEY_%d", i), "value"))
	}
	do[*rota.AllDone](y, y.allOf(all...))
	y.wantField(rota.Invalid, "key", y.secretCommand("backup", "ONE_MORE", "value"))
	y.putSecret("backup", "KEY_0")
	y.declareTemplate("other", rota.TemplateSpec{})
	y.putSecret("other", "KEY")
	y.wantField(rota.Invalid, "members[1].key", y.allOf(
		&rota.DeleteSecret{Meta: y.ids.meta(), Template: "other", Key: "KEY"}, y.secretCommand("backup", "ONE_MORE", "value")))
	do[*rota.AllDone](y, y.allOf(
		&rota.DeleteSecret{Meta: y.ids.meta(), Template: "backup", Key: "KEY_0"}, y.secretCommand("backup", "ONE_MORE", "value")))
}

// longSecret sets a secret whose value has a number of bytes.
func (y *story) longSecret(template, key string, size int) *rota.PutSecret {
	return y.secretCommand(template, key, strings.Repeat("x", size+sealOverhead))
}

// sealOverhead is how much longer a ciphertext is than its value.
const sealOverhead = 33

func secretBytesLimited(y *story) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.declareTemplate("other", rota.TemplateSpec{})
	largest := rota.SecretBytesMax / 4
	for _, key := range []string{"A", "B", "C"} {
		do[*rota.SecretPut](y, y.longSecret("backup", key, largest))
	}
	y.wantField(rota.Invalid, "members[1].sealed", y.allOf(y.longSecret("backup", "D", largest), y.longSecret("backup", "E", 1)))
	do[*rota.SecretPut](y, y.longSecret("backup", "D", largest))
	y.wantField(rota.Invalid, "sealed", y.longSecret("backup", "E", 1))
	do[*rota.SecretPut](y, y.longSecret("other", "E", 1))
	do[*rota.SecretPut](y, y.longSecret("backup", "D", largest-1))
	do[*rota.SecretPut](y, y.longSecret("backup", "E", 1))
	y.wantField(rota.Invalid, "sealed", y.longSecret("backup", "E", 2))
	do[*rota.AllDone](y, y.allOf(y.deleteSecretCommand("backup", "A"), y.longSecret("backup", "E", largest)))
	do[*rota.AllDone](y, y.allOf(y.recreateTemplateCommand("backup", rota.TemplateSpec{Description: "again"}), y.longSecret("backup", "F", largest)))
	y.wantNoViolations()
}

func secretOtherKey(y *story) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.putSecret("backup", "A")
	other := y.secretCommand("backup", "B", "value")
	other.Sealed = sealedBy(keyTwo, "value")
	y.wantField(rota.Conflict, "sealed", other)
	do[*rota.SecretDeleted](y, &rota.DeleteSecret{Meta: y.ids.meta(), Template: "backup", Key: "A"})
	other.Meta = y.ids.meta()
	do[*rota.SecretPut](y, other)
	want(y, "state", y.secretState(), keyTwo+" ["+keyTwo+"]")
}

func secretKeyInAll(y *story) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.putSecret("backup", "A")
	other := y.secretCommand("backup", "A", "value")
	other.Sealed = sealedBy(keyTwo, "value")
	y.wantField(rota.Conflict, "members[1].sealed", y.allOf(y.secretCommand("backup", "B", "value"), other))
	other.Meta = y.ids.meta()
	do[*rota.AllDone](y, y.allOf(&rota.DeleteSecret{Meta: y.ids.meta(), Template: "backup", Key: "A"}, other))
	want(y, "state", y.secretState(), keyTwo+" ["+keyTwo+"]")
}

func secretsRotated(y *story) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.putSecret("backup", "A")
	y.putSecret("backup", "B")
	version := y.secret("backup", "A").Version
	want(y, "changed", do[*rota.SecretKeyPromoted](y, y.promoteCommand()).Changed, true)
	want(y, "changed again", do[*rota.SecretKeyPromoted](y, y.promoteCommand()).Changed, false)
	want(y, "state", y.secretState(), keyTwo+" ["+keyOne+"]")
	y.wantField(rota.Conflict, "sealed", y.secretCommand("backup", "C", "value"))
	c := y.rewrapCommand("again")
	want(y, "to replace", len(c.Items), 2)
	want(y, "replaced", do[*rota.SecretsRewrapped](y, c).Rewrapped, 2)
	want(y, "state", y.secretState(), keyTwo+" ["+keyTwo+"]")
	got := y.secret("backup", "A")
	want(y, "stored", got.Sealed, sealedBy(keyTwo, "again"))
	want(y, "version", got.Version, version)
	want(y, "left to replace", len(y.rewrapCommand("again").Items), 0)
	y.wantNoViolations()
}

func rewrapLate(y *story) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.putSecret("backup", "A")
	y.putSecret("backup", "B")
	do[*rota.SecretKeyPromoted](y, y.promoteCommand())
	late := y.rewrapCommand("early")
	set := y.secretCommand("backup", "A", "")
	set.Sealed = sealedBy(keyTwo, "new")
	do[*rota.SecretPut](y, set)
	do[*rota.SecretDeleted](y, &rota.DeleteSecret{Meta: y.ids.meta(), Template: "backup", Key: "B"})
	want(y, "replaced", do[*rota.SecretsRewrapped](y, late).Rewrapped, 0)
	want(y, "stored", y.secret("backup", "A").Sealed, set.Sealed)
	y.wantNoSecret("backup", "B")
}

func promoteOther(y *story) {
	y.wantField(rota.Conflict, "from", y.promoteCommand())
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.putSecret("backup", "A")
	c := &rota.PromoteSecretKey{Meta: y.ids.meta(), From: keyTwo, To: "00000000000000ff"}
	y.wantField(rota.Conflict, "from", c)
	wrong := y.rewrapCommand("again")
	want(y, "replaced by another key than the primary one", do[*rota.SecretsRewrapped](y, wrong).Rewrapped, 0)
}

func secretsListed(y *story) {
	for _, name := range []string{"a", "b"} {
		y.declareTemplate(name, rota.TemplateSpec{})
		y.putSecret(name, "X")
		y.putSecret(name, "Y")
	}
	page := func(q rota.SecretQuery) string {
		all, err := y.s.Secrets(y.ctx, q)
		return joinNames(must(y, "secrets", all, err), func(s *rota.Secret) string { return s.Template + s.Key })
	}
	want(y, "all", page(rota.SecretQuery{}), "aX aY bX bY")
	want(y, "page", page(rota.SecretQuery{After: rota.SecretName{Template: "a", Key: "X"}, Limit: 2}), "aY bX")
	want(y, "of a template", page(rota.SecretQuery{Template: "b"}), "bX bY")
	want(y, "of a template after", page(rota.SecretQuery{Template: "b", After: rota.SecretName{Template: "b", Key: "X"}}), "bY")
	want(y, "of a template after another one", page(rota.SecretQuery{Template: "b", After: rota.SecretName{Template: "a", Key: "Z"}}), "bX bY")
	want(y, "of an earlier template", page(rota.SecretQuery{Template: "a", After: rota.SecretName{Template: "b", Key: "A"}}), "none")
	want(y, "of other keys", page(rota.SecretQuery{Fingerprint: keyOne}), "none")
	other := y.secretCommand("b", "Y", "value")
	do[*rota.SecretKeyPromoted](y, y.promoteCommand())
	other.Sealed = sealedBy(keyTwo, "value")
	do[*rota.SecretPut](y, other)
	want(y, "of other keys, page", page(rota.SecretQuery{Fingerprint: keyTwo, After: rota.SecretName{Template: "a", Key: "X"}, Limit: 1}), "aY")
	want(y, "of other keys, of a template after others", page(rota.SecretQuery{Fingerprint: keyTwo, Template: "b", Limit: 1}), "bX")
	want(y, "of other keys, of a template", page(rota.SecretQuery{Fingerprint: keyOne, Template: "b"}), "bY")
	want(y, "of no template", page(rota.SecretQuery{Template: "none"}), "none")
	_, err := y.s.Secrets(y.ctx, rota.SecretQuery{Limit: -1})
	want(y, "code", rota.CodeOf(err), rota.Invalid)
	_, err = y.s.Secrets(y.ctx, rota.SecretQuery{Fingerprint: "x"})
	want(y, "code", rota.CodeOf(err), rota.Invalid)
	y.wantNoSecret("a\x00", "X")
	y.wantNoSecret("a", "\xff")
}

func secretLate(y *story) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	set := y.secretCommand("backup", "A", "one")
	do[*rota.SecretPut](y, set)
	do[*rota.SecretPut](y, y.secretCommand("backup", "A", "two"))
	want(y, "changed", y.resendUnchanged(set).Reply.(*rota.SecretPut).Changed, false)
	want(y, "stored", y.secret("backup", "A").Sealed, sealedBy(keyOne, "two"))
	remove := &rota.DeleteSecret{Meta: y.ids.meta(), Template: "backup", Key: "A"}
	do[*rota.SecretDeleted](y, remove)
	want(y, "secret", y.resendUnchanged(set).Reply.(*rota.SecretPut).Secret == nil, true)
	y.putSecret("backup", "A")
	want(y, "gone", y.resendUnchanged(remove).Reply.(*rota.SecretDeleted).Gone, true)
	y.secret("backup", "A")
}

// invalidSecrets are commands about secrets with an invalid field.
func invalidSecrets() []invalidCase {
	set := func(field string, change func(*rota.PutSecret)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.secretCommand("backup", "PASSWORD", "one")
			change(c)
			return c
		}}
	}
	rewrap := func(field string, change func(*rota.RewrappedSecret)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			it := rota.RewrappedSecret{Template: "backup", Key: "A", Version: fx.ids.next(), Was: keyOne, Sealed: sealedBy(keyTwo, "x")}
			c := &rota.RewrapSecrets{Meta: fx.ids.meta(), Items: []rota.RewrappedSecret{it, it}}
			c.Items[1].Key = "B"
			change(&c.Items[1])
			return c
		}}
	}
	return []invalidCase{
		set("template", func(c *rota.PutSecret) { c.Template = "" }),
		set("template", func(c *rota.PutSecret) { c.Template = "two words" }),
		set("key", func(c *rota.PutSecret) { c.Key = "" }),
		set("key", func(c *rota.PutSecret) { c.Key = "1A" }),
		set("key", func(c *rota.PutSecret) { c.Key = "A-B" }),
		set("key", func(c *rota.PutSecret) { c.Key = strings.Repeat("A", rota.SecretKeyMax+1) }),
		set("sealed", func(c *rota.PutSecret) { c.Sealed = "plain" }),
		set("sealed", func(c *rota.PutSecret) { c.Sealed = "sealed:v1:0123456789ABCDEF:AAEC" }),
		set("sealed", func(c *rota.PutSecret) { c.Sealed = "sealed:v1:0123456789abcdef:" }),
		set("sealed", func(c *rota.PutSecret) { c.Sealed += "=" }),
		set("sealed", func(c *rota.PutSecret) { c.Sealed += strings.Repeat("A", rota.SealedMax) }),
		{"key", func(fx *fixture) rota.Command { return &rota.DeleteSecret{Meta: fx.ids.meta(), Template: "backup"} }},
		{"template", func(fx *fixture) rota.Command { return &rota.DeleteSecret{Meta: fx.ids.meta(), Key: "A"} }},
		{"items", func(fx *fixture) rota.Command { return &rota.RewrapSecrets{Meta: fx.ids.meta()} }},
		rewrap("items[1].template", func(it *rota.RewrappedSecret) { it.Template = "" }),
		rewrap("items[1].key", func(it *rota.RewrappedSecret) { it.Key = "A" }),
		rewrap("items[1].version", func(it *rota.RewrappedSecret) { it.Version = rota.ID{} }),
		rewrap("items[1].was", func(it *rota.RewrappedSecret) { it.Was = "x" }),
		rewrap("items[1].sealed", func(it *rota.RewrappedSecret) { it.Sealed = "x" }),
		{"from", func(fx *fixture) rota.Command { return &rota.PromoteSecretKey{Meta: fx.ids.meta(), To: keyOne} }},
		{"to", func(fx *fixture) rota.Command {
			return &rota.PromoteSecretKey{Meta: fx.ids.meta(), From: keyOne, To: keyOne}
		}},
	}
}
