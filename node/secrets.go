package node

import (
	"context"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/secret"
)

// masterKeyVariable names the variable that holds the keyset in place of the file master.key.
const masterKeyVariable = secret.Env

// openSecrets loads the keyset and refuses a store whose secrets need a key that this node does not have. A store without
// secrets accepts any node.
func (n *Node) openSecrets() error {
	ring, err := secret.Load(n.config.Data, n.config.MasterKey)
	if err != nil {
		return err
	}
	ring.Logger = n.logger
	n.vault = &secret.Vault{Keyring: ring, Store: n.store}
	ctx := context.Background()
	if n.config.ForgetSecrets {
		if err := n.forgetSecrets(ctx); err != nil {
			return err
		}
	}
	state, err := n.store.SecretState(ctx)
	if err != nil {
		return err
	}
	if len(state.Needed) > 0 {
		if err := ring.CheckNeeded(append(slices.Clone(state.Needed), state.Primary)); err != nil {
			return lostKey(err)
		}
	}
	if state.Plain == 0 {
		return nil
	}
	return n.sealWebhooks(ctx, &state)
}

// lostKey adds the way out to the refusal of a node whose key is lost.
func lostKey(err error) error {
	refusal, is := err.(*rota.Error)
	if !is || refusal.Code != rota.Unavailable {
		return err
	}
	named := *refusal
	named.Hint = "copy the master.key that has it, of a backup's time or of another node, into the data directory of this node (mode 0600), or set " + masterKeyVariable +
		"; if it is lost, rota serve --forget-secrets deletes the secrets that need it"
	return &named
}

// forgetSecrets deletes the secrets whose key this node does not have. Another node may have it, so there must be none.
func (n *Node) forgetSecrets(ctx context.Context) error {
	others, err := n.otherNodes(ctx)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return &rota.Error{
			Code: rota.Conflict, Act: "forget secrets", Reason: "the store has other nodes that may have its keys: " + strings.Join(others, ", "),
			Hint: "copy master.key of one of them into the data directory of this node (mode 0600), or stop them first",
		}
	}
	deleted := func(what, template, key, fingerprint string) {
		switch {
		case what == "secret":
			n.logger.Warn("deleting a secret whose key is lost", "secret", template+"/"+key, "key", fingerprint)
		case template == "":
			n.logger.Warn("replacing the secret of a webhook by a random one: its key is lost", "webhook", key, "key", fingerprint)
		default:
			n.logger.Warn("replacing the secret of a webhook by a random one: its key is lost", "webhook", key, "template", template, "key", fingerprint)
		}
	}
	lost, err := (&secret.Forget{Keyring: n.vault.Keyring, Store: n.store, Actor: rota.SystemActor, Deleted: deleted}).Run(ctx)
	switch {
	case err != nil:
		return err
	case len(lost) == 0:
		n.logger.Info("no secret was deleted: this node has the keys of all secrets of the store")
	default:
		n.logger.Warn("deleted the secrets whose keys are lost; set them again, and those of webhooks, whose receivers refuse the deliveries until then", "keys", strings.Join(lost, ", "))
	}
	return nil
}

// sealWebhooks seals the secrets of webhooks that an earlier version has stored as they are, if the store has a key. A start
// creates none: the other nodes of the store would not have it.
func (n *Node) sealWebhooks(ctx context.Context, state *rota.SecretState) error {
	known := false
	if state.Primary != "" {
		var err error
		if known, err = n.vault.Keyring.Has(state.Primary); err != nil {
			return err
		}
	}
	if !known {
		n.logger.Warn("secrets of webhooks are stored as they are; run rota secret rotate to seal them", "webhooks", state.Plain)
		return nil
	}
	sealed, err := (&secret.Rotation{Keyring: n.vault.Keyring, Store: n.store, Actor: rota.SystemActor}).RewrapWebhooks(ctx, state.Primary)
	if err == nil {
		n.logger.Info("sealed the secrets of webhooks that were stored as they were", "webhooks", sealed)
	}
	return err
}

// sealSecret seals a secret that a statement sets. One that the programs of the template could not have is refused.
func (n *Node) sealSecret(ctx context.Context, template, key string, value []byte) (string, error) {
	t, err := n.store.Template(ctx, template)
	if err != nil {
		return "", err
	}
	if t.Spec.Type == (action.Exec{}).JobType() {
		if err := action.CheckSecretVariable(key, value); err != nil {
			return "", err
		}
	}
	return n.vault.SealFor(ctx, template, key, value)
}

// otherNodes returns the names of the other nodes of the store that live now, sorted.
func (n *Node) otherNodes(ctx context.Context) (names []string, err error) {
	if n.backend.membership == nil {
		return nil, nil
	}
	members, err := n.backend.membership.Members(ctx)
	for _, m := range members {
		if m.Name != n.config.Name {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names, err
}
