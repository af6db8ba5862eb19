import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'data/', 'node_modules/'] },
  js.configs.recommended,
  {
    files: ['**/*.js'],
    languageOptions: { sourceType: 'commonjs', globals: { process: 'readonly' } },
  },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // Numbers in messages are readable as they are.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Interfaces ask for promises where an implementation may answer at once.
      '@typescript-eslint/require-await': 'off',
      // Mongoose, Node and the driver type options as classes and take plain objects for them.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // One way to say private, and it holds when the program runs as well.
      'no-restricted-syntax': [
        'error',
        {
          selector:
            ':matches(TSParameterProperty, PropertyDefinition, MethodDefinition[kind!="constructor"])[accessibility="private"]',
          message: 'Write #name.',
        },
      ],
    },
  },
);
