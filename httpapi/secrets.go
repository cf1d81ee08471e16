package httpapi

import (
	"net/http"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/secret"
)

func (a *server) secretRoutes() {
	get(a, operation{
		method: "GET", path: "/secrets", id: "list-secrets", scope: readScope, tag: "Access", summary: "List secrets",
		description: "By template and key, those of templates that the user may see. No request returns a value.",
		query:       pageParams(param{name: "template", form: formName, doc: "Secrets of this template."}), response: api.List[api.Secret]{},
	}, listSecrets)
	route(a, operation{
		method: "PUT", path: "/secrets/{template}/{key}", id: "put-secret", scope: writeScope, tag: "Access", summary: "Set a secret",
		description: "Jobs of the template receive it; the server stores only its ciphertext. Needs ALTER JOB on the template.", secret: true,
		example: `{"value": "the password"}`, response: api.Secret{}, errors: []int{403, 404, 409},
	}, putSecret)
	get(a, operation{
		method: "DELETE", path: "/secrets/{template}/{key}", id: "delete-secret", scope: writeScope, tag: "Access", summary: "Delete a secret",
		description: "Needs ALTER JOB on the template.", status: 204, errors: []int{403, 404},
	}, deleteSecret)
	get(a, operation{
		method: "POST", path: "/secrets/rotate", id: "rotate-secrets", scope: writeScope, tag: "Access", summary: "Rotate the master key",
		description: "Adds a key to master.key of this node, seals new values with it, seals the stored values again, and removes keys that no value needs. " +
			"If an earlier rotation was cut off, it is finished instead. While the store has other nodes, the first request only adds the key: " +
			"copy master.key to the nodes of the answer, and repeat the request.",
		query:    []param{{name: "now", form: formFlag, doc: "Do not wait for the other nodes of the store: their jobs with secrets fail until they have master.key. Default false."}},
		response: api.SecretsRotated{}, errors: []int{403, 409}, need: rota.Admin,
	}, rotateSecrets)
}

// secretAt is the position of a secret in a list. Neither name contains a NUL byte.
func secretAt(s *rota.Secret) []byte { return []byte(s.Template + "\x00" + s.Key) }

func secretName(at []byte) (n rota.SecretName) {
	for i, b := range at {
		if b == 0 {
			return rota.SecretName{Template: string(at[:i]), Key: string(at[i+1:])}
		}
	}
	return n
}

func listSecrets(c *call) (reply, error) {
	return rowList[*rota.Secret, api.Secret]{
		kind: cursorSecrets, position: secretAt, show: api.NewSecret,
		read: func(after []byte, n int) ([]*rota.Secret, error) {
			found, err := c.Store.Secrets(c.ctx, rota.SecretQuery{After: secretName(after), Template: c.query.Get("template"), Limit: n})
			return found, asMalformed(err)
		},
	}.page(c)
}

func putSecret(c *call, body *api.SecretRequest) (reply, error) {
	template, key := c.r.PathValue("template"), c.r.PathValue("key")
	value, err := body.Bytes()
	if err != nil {
		return reply{}, err
	}
	defer clear(value)
	if err := rota.CheckSecretKey("key", key); err != nil {
		return reply{}, err
	}
	t, err := c.Store.Template(c.ctx, template)
	if err != nil { // otherwise the request would create a keyset for nothing
		return reply{}, err
	}
	if c.Vault == nil {
		return reply{}, noVault()
	}
	command := &rota.PutSecret{Meta: c.meta(), Template: template, Key: key}
	if err := c.Store.Authorize(c.ctx, command); err != nil { // before a keyset is created
		return reply{}, err
	}
	if err := checkSecret(t.Spec.Type, key, value); err != nil {
		return reply{}, err
	}
	send := func() (reply, error) {
		if command.Sealed, err = c.Vault.SealFor(c.ctx, template, key, value); err != nil {
			return reply{}, err
		}
		return show(func(put *rota.SecretPut) api.Secret {
			if put.Secret == nil { // set by an earlier sending, and deleted since
				return api.Secret{Template: template, Key: key}
			}
			return api.NewSecret(put.Secret)
		})(do[*rota.SecretPut](c, command))
	}
	answer, err := send()
	if keyReplaced(err) {
		answer, err = send()
	}
	return answer, err
}

// checkSecret refuses a secret that no job of a type can use.
func checkSecret(typ, key string, value []byte) error {
	if typ != execType {
		return nil
	}
	return action.CheckSecretVariable(key, value)
}

// keyReplaced reports whether a rotation has replaced the key of the store after a value was sealed with it. Sealed again, the value is accepted.
func keyReplaced(err error) bool {
	refusal, is := err.(*rota.Error)
	return is && refusal.Code == rota.Conflict && (refusal.Field == "sealed" || strings.HasPrefix(refusal.Field, "webhooks[") && strings.HasSuffix(refusal.Field, "].secret"))
}

func deleteSecret(c *call) (reply, error) {
	command := &rota.DeleteSecret{Meta: c.meta(), Template: c.r.PathValue("template"), Key: c.r.PathValue("key")}
	return then(func(*rota.SecretDeleted) (reply, error) { return reply{status: http.StatusNoContent}, nil })(do[*rota.SecretDeleted](c, command))
}

// rotateSecrets begins a rotation or continues one. A repeated request only continues.
func rotateSecrets(c *call) (reply, error) {
	if c.Vault == nil {
		return reply{}, noVault()
	}
	if err := c.bindKey(); err != nil {
		return reply{}, err
	}
	rotation := &secret.Rotation{Keyring: c.Vault.Keyring, Store: c.server.Store, Actor: c.actor, Others: c.OtherNodes, Now: c.flag("now"), Repeated: c.replay}
	if c.replay {
		state, err := c.Vault.Store.SecretState(c.ctx)
		if err != nil {
			return reply{}, err
		}
		if !rotation.Continues(&state) {
			return ok(api.SecretsRotated{To: state.Primary, Nodes: []string{}})
		}
	}
	return show(func(done secret.Rotated) api.SecretsRotated {
		return api.SecretsRotated{
			From: api.Text(done.From), To: done.To, Rewrapped: done.Rewrapped, Webhooks: done.Webhooks, Retired: done.Retired,
			Pending: len(done.Pending) > 0, Nodes: append([]string{}, done.Pending...),
		}
	})(rotation.Run(c.ctx))
}

func noVault() error {
	return &rota.Error{Code: rota.Unavailable, Act: "secret", Reason: "this server has no master key", Hint: "send the request to a server that was started with rota serve"}
}
