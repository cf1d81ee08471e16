-- Entries are read by time and id; no query reads their number. To number the entries of a prune
-- rewrote each of them with all its index entries: more than half of what a prune wrote. This
-- migration locks the audit and no other table.
DROP TRIGGER audit_number ON rota_audit;
DROP FUNCTION rota_audit_number();
DROP TRIGGER audit_enter ON rota_audit;
DROP TRIGGER audit_keep ON rota_audit;

ALTER TABLE rota_audit DROP CONSTRAINT audit_seq_key;
ALTER TABLE rota_audit DROP COLUMN seq;

CREATE TRIGGER audit_keep AFTER UPDATE ON rota_audit FOR EACH ROW
EXECUTE FUNCTION rota_refuse('rota: the audit is only appended to');
