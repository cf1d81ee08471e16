package access

import (
	"context"

	"github.com/rotajobs/rota"
)

const kindSecret = "secret"

// withoutSealed returns a copy without the ciphertext, which no interface shows.
func withoutSealed(s *rota.Secret) *rota.Secret {
	shown := *s
	shown.Sealed = ""
	return &shown
}

// seesSecretsOf reports whether the identity may see the template of secrets.
func (r *reader) seesSecretsOf(ctx context.Context, template string) (bool, error) {
	o, err := r.objects.get(ctx, kindTemplate, template)
	if err != nil {
		return false, err
	}
	return r.seesObject(o), nil
}

func (r *reader) Secret(ctx context.Context, name rota.SecretName) (*rota.Secret, error) {
	if err := r.allow("Secret"); err != nil {
		return nil, err
	}
	visible, err := r.seesSecretsOf(ctx, name.Template)
	if err != nil || !visible {
		return nil, orNotFound(err, kindSecret, name.Template+"/"+name.Key)
	}
	s, err := r.from.Secret(ctx, name)
	if err != nil {
		return nil, err
	}
	return withoutSealed(s), nil
}

func (r *reader) Secrets(ctx context.Context, q rota.SecretQuery) ([]*rota.Secret, error) {
	if err := r.allow("Secrets"); err != nil {
		return nil, err
	}
	var failed error
	all, err := filtered(limitOf(q.Limit), func(limit int) ([]*rota.Secret, error) {
		q.Limit = limit
		page, err := r.from.Secrets(ctx, q)
		if n := len(page); n > 0 {
			q.After = rota.SecretName{Template: page[n-1].Template, Key: page[n-1].Key}
		}
		return page, err
	}, func(s *rota.Secret) bool {
		visible, err := r.seesSecretsOf(ctx, s.Template)
		if err != nil {
			failed = err
		}
		return visible
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i] = withoutSealed(all[i])
	}
	return all, nil
}

func (r *reader) SecretState(ctx context.Context) (rota.SecretState, error) {
	if err := r.allow("SecretState"); err != nil {
		return rota.SecretState{}, err
	}
	if !r.unrestricted() {
		return rota.SecretState{}, r.missingOnAll(rota.Admin)
	}
	return r.from.SecretState(ctx)
}
