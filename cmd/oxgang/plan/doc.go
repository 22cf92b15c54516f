// Package plan has the commands that plan spending on GPUs.
package plan
