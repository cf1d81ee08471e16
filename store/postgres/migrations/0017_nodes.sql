-- The version and the worker slots of a process, for sys.nodes. A process of an earlier version sends
-- neither. This migration locks the nodes and no other table.
ALTER TABLE rota_nodes ADD COLUMN version text COLLATE "C";
ALTER TABLE rota_nodes ADD COLUMN workers integer;
