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
	return replyOf[R](c, results[0])
}

// replyOf returns the reply to a command as the given type, or its refusal.
func replyOf[R Reply](c Command, result Result) (none R, err error) {
	if result.Err != nil {
		return none, result.Err
	}
	reply, ok := result.Reply.(R)
	if !ok {
		return none, Errorf(Internal, string(c.Verb()), "was applied; its reply is %T, not %T: request the reply type of the command", result.Reply, none)
	}
	return reply, nil
}
