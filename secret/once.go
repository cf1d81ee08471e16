package secret

import (
	"context"

	"github.com/rotajobs/rota"
)

// Once returns a vault for several values that are sealed together. It reads the keys that the store needs once: that read goes through
// the webhooks of all templates. If the key is replaced meanwhile, the store refuses the values.
func (v *Vault) Once() *Vault {
	return &Vault{Keyring: v.Keyring, Store: &stateOnce{Reader: v.Store}}
}

// stateOnce remembers which keys the store needs. One goroutine may use it.
type stateOnce struct {
	rota.Reader
	state *rota.SecretState
}

func (s *stateOnce) SecretState(ctx context.Context) (rota.SecretState, error) {
	if s.state == nil {
		state, err := s.Reader.SecretState(ctx)
		if err != nil {
			return rota.SecretState{}, err
		}
		s.state = &state
	}
	return *s.state, nil
}
