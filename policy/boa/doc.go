// Package boa is BOA Constrictor: GPUs rented by the hour, within a budget.
package boa
