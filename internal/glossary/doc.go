// Package glossary compares names in the code with docs/glossary.md: every package of the module
// must be on the page, and no name may be a metaphor that the field does not use. Its test reads the
// sources.
package glossary
