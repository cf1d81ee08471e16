package rota

import "context"

// Do applies one command and returns its reply as the given type:
//
//	enqueued, err := rota.Do[*rota.Enqueued](ctx, store, command)
//
// An error with a code other than Unavailable, Busy or Internal is a refusal: nothing
// has changed. After Unavailable, Busy or Internal the command may have been applied.
// Send the same command again to find out.
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
		return none, Errorf(Internal, string(c.Verb()), "was applied; its reply is %T, not %T: request the reply type of the command", results[0].Reply, none)
	}
	return reply, nil
}
