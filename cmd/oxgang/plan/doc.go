// Package plan has the commands of oxgang that plan spending on GPUs.
package plan
