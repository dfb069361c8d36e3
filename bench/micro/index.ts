/** Runs the micro benches and prints one table. */
console.log('no micro benches yet')
