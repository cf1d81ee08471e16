package rota

import "context"

// Do applies one command and returns its reply, whose type the caller names:
//
//	enqueued, err := rota.Do[*rota.Enqueued](ctx, store, command)
//
// An error with a code other than Unavailable, Busy or Internal is a refusal:
// nothing was changed. After any other error the command may have been applied;
// sending the same command again is harmless and settles it.
func Do[R Reply](ctx context.Context, s Store, c Command) (R, error) {
	var none R
	results, err := s.Apply(ctx, Batch{Commands: []Command{c}})
	if err != nil {
		return none, err
	}
	if results[0].Err != nil {
		return none, results[0].Err
	}
	reply, ok := results[0].Reply.(R)
	if !ok {
		return none, Errorf(Internal, string(c.Verb()), "was applied, and answers with %T, not with %T: ask for its own reply", results[0].Reply, none)
	}
	return reply, nil
}
