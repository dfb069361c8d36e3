// Only the rules that need types; everything else is Biome's.
import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['dist', 'bundle', 'build', 'node_modules', 'scripts', '*.js', '**/generated/**', 'bench/k6'] },
  {
    files: ['{src,test,bench}/**/*.ts'],
    plugins: { '@typescript-eslint': tseslint.plugin },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // tap queues subtests by itself: t.test() need not be awaited.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test'], package: 'tap' },
            { from: 'package', name: ['test'], package: '@tapjs/test' },
            { from: 'package', name: ['test'], package: '@tapjs/core' },
          ],
        },
      ],
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
)
