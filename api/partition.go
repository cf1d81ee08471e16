package api

import "github.com/rotajobs/rota"

// Partition is the distribution of a schedule over shards.
type Partition struct {
	Strategy   string   `json:"strategy" enum:"ALL_SHARDS,SINGLE_SHARD,SHARD_SET,DYNAMIC" doc:"Shards it fires for."`
	Shards     []string `json:"shards,omitempty" doc:"Shard ids: one for SINGLE_SHARD, several for SHARD_SET."`
	Expression string   `json:"expression,omitempty" doc:"Expression that selects the shards, for DYNAMIC."`
}

// newPartition converts a partition; nil if there is none.
func newPartition(p rota.Partition) *Partition {
	if p.IsZero() {
		return nil
	}
	return &Partition{Strategy: string(p.Strategy), Shards: p.Shards, Expression: p.Expression}
}

// applyPartition replaces a whole partition: its fields have no meaning without each other.
func applyPartition(given Opt[Partition], field *rota.Partition) {
	if !given.Set {
		return
	}
	*field = rota.Partition{}
	if p := given.Value; p != nil {
		field.Shards, field.Expression = p.Shards, p.Expression
		applyEnum(Some(p.Strategy), &field.Strategy, rota.PartitionAll, rota.PartitionSingle, rota.PartitionSet, rota.PartitionDynamic)
	}
}
